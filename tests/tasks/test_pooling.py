import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.tasks.pooling import SequencePooling, masked_max, pool_rows

X = np.array(
    [
        [[1.0, -5.0], [3.0, -1.0], [99.0, 99.0]],
        [[7.0, 7.0], [7.0, 7.0], [7.0, 7.0]],
        [[-2.0, 4.0], [99.0, 99.0], [99.0, 99.0]],
    ],
    np.float32,
)
MASK = np.array([[True, True, False], [False, False, False], [True, False, False]])
MEAN = [[2.0, -3.0], [0.0, 0.0], [-2.0, 4.0]]
MAX = [[3.0, -1.0], [0.0, 0.0], [-2.0, 4.0]]


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [("mean", MEAN), ("max", MAX), ("both", np.concatenate([MEAN, MAX], axis=1))],
)
def test_pooling_over_valid_positions_by_hand(pooling, expected):
    pooled = SequencePooling(pooling)(X, mask=tf.constant(MASK))
    np.testing.assert_allclose(pooled, expected, atol=1e-6)


def test_without_a_mask_every_position_counts():
    pooled = SequencePooling("both")(X)
    np.testing.assert_allclose(pooled, np.concatenate([X.mean(1), X.max(1)], axis=1), rtol=1e-6)


def test_mask_comes_from_the_layer_below_and_ends_here():
    below = keras.layers.Masking(mask_value=7.0)
    x = tf.constant(X)
    pooled = SequencePooling("max")(below(x))
    np.testing.assert_allclose(pooled[1], [0.0, 0.0])
    assert getattr(pooled, "_keras_mask", None) is None


def test_largest_of_negative_half_precision_numbers():
    x = tf.cast(-X, tf.bfloat16)
    np.testing.assert_allclose(tf.cast(masked_max(x, MASK), tf.float32)[0], [-1.0, 5.0])


def test_shapes_config_and_unknown_pooling():
    layer = SequencePooling("both")
    assert layer(keras.KerasTensor((None, None, 4))).shape == (None, 8)
    assert SequencePooling.from_config(layer.get_config()).pooling == "both"
    with pytest.raises(ValueError, match="`pooling` must be one of"):
        SequencePooling("sum")


@pytest.mark.parametrize("pooling", ["mean", "max", "both"])
@pytest.mark.parametrize("lengths", [[3, 0, 2], [0, 1, 0], [0, 0], [4]])
def test_rows_without_padding_are_pooled_as_padded_ones(pooling, lengths):
    values = tf.random.stateless_normal((sum(lengths), 5), [1, 2])
    rows = tf.RaggedTensor.from_row_lengths(values, lengths)
    mask = tf.sequence_mask(lengths)
    expected = SequencePooling(pooling)(rows.to_tensor(shape=(None, None, 5)), mask=mask)
    np.testing.assert_allclose(pool_rows(rows, pooling), expected, atol=1e-6)
