import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.layers.char_cnn import CharCNN

FILTERS = ((1, 2), (3, 4))


def make(activation="relu", **kwargs):
    layer = CharCNN(FILTERS, n_characters=9, char_dim=3, activation=activation, **kwargs)
    layer.build()
    rng = np.random.default_rng(1)
    for variable in layer.variables:
        variable.assign(rng.normal(size=variable.shape))
    return layer


def by_hand(layer, ids):
    """Formula of the docstring, over all columns, in NumPy."""
    table = np.concatenate([np.zeros((1, 3)), np.asarray(layer.char_embed)])
    act = {"relu": lambda x: np.maximum(x, 0), "tanh": np.tanh}[layer.activation]
    rows = []
    for word in ids:
        characters = table[word]
        features = []
        for (width, _), kernel, bias in zip(FILTERS, layer.kernels, layer.biases, strict=True):
            kernel = np.asarray(kernel)[0]
            windows = [
                np.einsum("wd,wdn->n", characters[p : p + width], kernel)
                for p in range(len(word) - width + 1)
            ]
            features.append(act(np.max(windows, axis=0) + np.asarray(bias)))
        rows.append(np.concatenate(features))
    return np.array(rows)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_equals_formula_whatever_the_length_of_words(activation):
    layer = make(activation)
    short = [4, 1, 2, 5, 9, 9, 9, 9, 9, 9]
    full = [4, 1, 2, 3, 1, 2, 3, 1, 2, 5]
    empty = [0] * 10
    for ids in ([short], [full], [empty], [short, full, empty], [short, empty]):
        ids = np.array(ids, np.int32)
        np.testing.assert_allclose(layer(ids), by_hand(layer, ids), atol=1e-5)


def test_words_of_all_lengths_come_back_in_their_order():
    layer = make()
    rng = np.random.default_rng(2)
    ids = np.full((40, 30), 9, np.int32)
    for row, length in enumerate(rng.permutation(np.arange(40) % 31)):
        ids[row, :length] = rng.integers(1, 9, length)
    ids[7] = 0
    np.testing.assert_allclose(layer(ids), by_hand(layer, ids), atol=1e-5)
    groups = layer._rows_by_length(ids)
    assert all(len(rows) for rows in groups)
    assert sorted(np.concatenate(groups)) == list(range(40))
    assert layer(ids[:0]).shape == (0, 6)


def test_windows_of_padding_are_not_computed_again():
    layer = make()
    ids = tf.constant([[4, 1, 5] + [9] * 47])
    assert layer._starts(ids, 6) == 7
    assert int(layer._starts(ids, 50)) == 8  # four differ; in eights, for shapes to repeat
    full = tf.ones((1, 50), tf.int32) * tf.range(50)
    assert int(layer._starts(full, 50)) == 50


def test_id_zero_has_no_weight():
    layer = make()
    assert layer.char_embed.shape == (9, 3)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(tf.constant([[0, 0, 0, 1]])))
    gradient = tf.convert_to_tensor(tape.gradient(loss, layer.char_embed.value))
    assert np.count_nonzero(gradient[1:]) == 0


def test_frozen_stays_frozen():
    layer = make(frozen=True)
    layer.trainable = False
    layer.trainable = True
    assert layer.trainable_variables == []
    assert len(make().trainable_variables) == 5


def test_half_products_float32_results():
    policy = keras.DTypePolicy("mixed_bfloat16")
    layer = make(dtype=policy)
    ids = np.array([[4, 1, 2, 5, 9, 9]], np.int32)
    out = layer(ids)
    assert out.dtype == tf.float32
    np.testing.assert_allclose(out, by_hand(layer, ids), atol=0.1)
