import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.layers.contextual_encoder import ContextualEncoder
from keras_elmo.layers.fast import packing
from keras_elmo.layers.lstm_stack import LSTMStack

LENGTHS = tf.constant([4, 2])


def make(n_layers=2, **options):
    names = ("ahead", "behind")
    encoder = ContextualEncoder(*(LSTMStack(n_layers, 5, 3, name=n, **options) for n in names))
    encoder.build()
    rng = np.random.default_rng(6)
    for variable in encoder.variables:
        variable.assign(rng.normal(size=variable.shape))
    return encoder


def vectors():
    x = np.random.default_rng(7).normal(size=(2, 4, 3)).astype(np.float32)
    x[1, 2:] = 0.0
    return x


def test_layers_are_token_vector_twice_then_both_directions():
    encoder, x = make(), vectors()
    layers, (ahead_states, behind_states) = encoder(x, lengths=LENGTHS)
    assert layers.shape == (2, 3, 4, 6)
    np.testing.assert_array_equal(layers[:, 0], np.concatenate([x, x], -1))
    for row, length in enumerate(LENGTHS.numpy()):
        ahead, _ = encoder.forward_stack(x[row : row + 1, :length])
        behind, _ = encoder.backward_stack(x[row : row + 1, :length][:, ::-1])
        for k in (0, 1):
            expected = np.concatenate([ahead[k][0], behind[k][0, ::-1]], -1)
            np.testing.assert_allclose(layers[row, k + 1, :length], expected, atol=1e-6)
        np.testing.assert_array_equal(layers[row, :, length:], 0.0)
    assert len(ahead_states) == len(behind_states) == 2


def test_each_direction_sees_one_side_only():
    encoder, x = make(), vectors()
    changed = x.copy()
    changed[0, 2] += 1.0
    before, _ = encoder(x, lengths=LENGTHS)
    after, _ = encoder(changed, lengths=LENGTHS)
    difference = np.abs(after - before)[0, 1:]
    assert difference[:, :2, :3].max() == 0.0 and difference[:, 2:, :3].min() > 0.0
    assert difference[:, 3:, 3:].max() == 0.0 and difference[:, :3, 3:].min() > 0.0


@pytest.mark.parametrize("skips", [True, False])
@pytest.mark.parametrize("n_layers", [2, 3])
def test_packed_equals_plain_on_random_shapes(n_layers, skips, monkeypatch):
    monkeypatch.setattr(packing, "MOST_ROWS", 4)
    monkeypatch.setattr(packing, "BLOCK_POSITIONS", 7)
    options = {"cell_clip": 0.5, "proj_clip": 0.4, "use_skip_connections": skips}
    encoder = make(n_layers, **options)
    rng = np.random.default_rng(n_layers)
    rows = tf.RaggedTensorSpec((None, None), tf.int32)
    states = tf.nest.map_structure(
        lambda x: tf.TensorSpec((None, x.shape[1])), encoder.zero_states(0)
    )
    run = tf.function(encoder.packed, input_signature=[tf.TensorSpec((None, 3)), rows, states])
    for batch in (1, 2, 4, 5, 13):
        lengths = rng.integers(1, 20, size=batch).astype(np.int32)
        table = rng.normal(size=(30, 3)).astype(np.float32)
        words = rng.integers(0, 30, size=lengths.sum()).astype(np.int32)
        given = tf.nest.map_structure(
            lambda x: rng.normal(size=x.shape).astype(np.float32), encoder.zero_states(batch)
        )
        rows = tf.RaggedTensor.from_row_lengths(words, lengths.astype(np.int64))
        found, found_states = run(table, rows, given)
        vectors = tf.gather(np.pad(table, [[1, 0], [0, 0]]), (rows + 1).to_tensor(0))
        expected, expected_states = encoder(vectors, lengths=lengths, initial_states=given)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, atol=1e-5)
        for one, other in zip(*map(tf.nest.flatten, (found_states, expected_states)), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)
