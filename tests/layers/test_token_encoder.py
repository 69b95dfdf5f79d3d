import numpy as np
import pytest

from keras_elmo.layers.highway import Highway
from keras_elmo.layers.token_encoder import TokenEncoder


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def test_highway_equals_formula():
    layer = Highway()
    layer.build((None, 5))
    rng = np.random.default_rng(2)
    weights = {}
    for variable in layer.variables:
        weights[variable.name] = rng.normal(size=variable.shape).astype(np.float32)
        variable.assign(weights[variable.name])
    x = rng.normal(size=(3, 5)).astype(np.float32)
    gate = sigmoid(x @ weights["W_carry"] + weights["b_carry"])
    transformed = np.maximum(x @ weights["W_transform"] + weights["b_transform"], 0)
    np.testing.assert_allclose(layer(x), gate * transformed + (1 - gate) * x, atol=1e-5)


def test_new_highway_mostly_carries():
    layer = Highway()
    x = np.ones((1, 4), np.float32)
    layer(x)
    assert np.all(np.asarray(layer.b_carry) == -2.0)


@pytest.mark.parametrize("n_highway", [0, 2])
def test_token_encoder_chains_its_parts(n_highway):
    layer = TokenEncoder(5, ((1, 3), (2, 4)), n_characters=261, char_dim=2, n_highway=n_highway)
    layer.build()
    ids = np.random.default_rng(3).integers(1, 262, (6, 50)).astype(np.int32)
    x = layer.char_cnn(ids)
    for highway in layer.highways:
        x = highway(x)
    expected = np.asarray(x) @ np.asarray(layer.W_proj) + np.asarray(layer.b_proj)
    np.testing.assert_allclose(layer(ids), expected, atol=1e-6)
    assert len(layer.highways) == n_highway
    assert layer.compute_output_shape((6, 50)) == (6, 5)
