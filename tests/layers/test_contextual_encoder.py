import numpy as np
import tensorflow as tf

from keras_elmo.layers.contextual_encoder import ContextualEncoder
from keras_elmo.layers.lstm_stack import LSTMStack

LENGTHS = tf.constant([4, 2])


def make():
    encoder = ContextualEncoder(*(LSTMStack(2, 5, 3, name=name) for name in ("ahead", "behind")))
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


def test_config_round_trip():
    encoder = make()
    copy = ContextualEncoder.from_config(encoder.get_config())
    assert copy.get_config() == encoder.get_config()
