import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.layers.scalar_mix import ScalarMix, normalize_layers


@pytest.fixture
def layers():
    return np.random.default_rng(1).normal(2.0, 3.0, (3, 3, 5, 4)).astype("float32")


MASK = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0]], dtype=bool)


def test_mix_worked_by_hand():
    # softmax(0, ln 2, ln 5) = 1/8, 2/8, 5/8; the three layers are 8, 16 and 24 everywhere.
    mix = ScalarMix(initial_scalars=[0.0, np.log(2.0), np.log(5.0)], initial_gamma=0.5)
    layers = tf.stack([tf.fill((1, 2, 2), value) for value in (8.0, 16.0, 24.0)], axis=1)
    np.testing.assert_allclose(mix(layers), np.full((1, 2, 2), 0.5 * (1 + 4 + 15)), rtol=1e-6)


def test_starts_as_the_plain_mean(layers):
    mix = ScalarMix()
    np.testing.assert_allclose(mix(layers), layers.mean(axis=1), atol=1e-5)
    np.testing.assert_allclose(mix.layer_weights, [1 / 3] * 3, atol=1e-7)
    assert [tuple(weight.shape) for weight in mix.trainable_weights] == [(3,), ()]


def test_padding_is_zero_and_the_mask_goes_on(layers):
    mixed = ScalarMix()(layers, mask=tf.constant(MASK))
    assert np.all(mixed.numpy()[~MASK] == 0.0)
    assert np.all(mixed.numpy()[MASK] != 0.0)
    np.testing.assert_array_equal(mixed._keras_mask, MASK)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"fixed_weights": [0.0, 0.25, 0.75]}, [0.0, 0.25, 0.75]),
        ({"fixed_scalars": [np.log(2.0), 0.0, 0.0]}, [0.5, 0.25, 0.25]),
    ],
)
def test_fixed_weights_leave_only_gamma_trainable(layers, arguments, expected):
    mix = ScalarMix(**arguments)
    weighted = np.einsum("l,bltd->btd", expected, layers)
    np.testing.assert_allclose(mix(layers), weighted, atol=1e-5)
    np.testing.assert_allclose(mix.layer_weights, expected, atol=1e-7)
    assert mix.trainable_weights == [mix.gamma] and mix.weights == [mix.gamma]


def test_layer_norm_gives_each_sentence_and_layer_mean_0_and_variance_1(layers):
    normal = normalize_layers(tf.constant(layers), tf.constant(MASK)).numpy()
    for row, length in ((0, 5), (1, 2)):
        values = normal[row, :, :length].reshape(3, -1)
        np.testing.assert_allclose(values.mean(axis=1), 0.0, atol=1e-6)
        np.testing.assert_allclose(values.var(axis=1), 1.0, atol=1e-5)
    assert np.all(normal[1, :, 2:] == 0.0) and np.all(normal[2] == 0.0)


def test_layer_norm_of_a_sentence_ignores_neighbours_and_padding(layers):
    mix = ScalarMix(layer_norm=True)
    together = mix(layers, mask=tf.constant(MASK))
    alone = mix(layers[1:2, :, :2], mask=tf.constant([[True, True]]))
    np.testing.assert_allclose(together[1, :2], alone[0], atol=1e-6)
    no_mask = mix(layers[1:2, :, :2])
    np.testing.assert_allclose(alone, no_mask, atol=1e-6)


def test_layer_norm_gradients_are_finite_for_constant_and_empty_sentences():
    layers = tf.ones((2, 2, 3, 4))
    with tf.GradientTape() as tape:
        tape.watch(layers)
        normal = normalize_layers(layers, tf.constant([[True, True, False], [False] * 3]))
    assert np.isfinite(tape.gradient(normal, layers).numpy()).all()


def test_l2_is_on_the_scalars_only(layers):
    mix = ScalarMix(initial_scalars=[1.0, -2.0, 0.0], initial_gamma=7.0, l2=0.1)
    mix(layers)
    np.testing.assert_allclose(sum(mix.losses), 0.1 * 5.0, rtol=1e-6)
    plain = ScalarMix()
    plain(layers)
    assert plain.losses == []


def test_a_step_moves_scalars_and_gamma(layers):
    mix = ScalarMix()
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(mix(layers, mask=tf.constant(MASK)) ** 2)
    gradients = tape.gradient(loss, mix.trainable_weights)
    assert all(np.isfinite(gradient).all() and np.any(gradient) for gradient in gradients)


@pytest.mark.parametrize("policy", ["mixed_float16", "float64"])
def test_is_float32_under_every_policy(layers, policy):
    class Outer(keras.layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.mix = ScalarMix(initial_gamma=1.2345678)

        def call(self, x):
            return self.mix(x)

    mixed = Outer(dtype=policy)(layers)
    expected = np.float32(1.2345678) * layers.mean(axis=1)
    if policy == "mixed_float16":
        half = layers.astype("float16").astype("float32")
        expected = np.float32(1.2345678) * half.mean(axis=1)
    assert mixed.dtype == tf.float32
    np.testing.assert_allclose(mixed, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "arguments",
    [
        {"initial_scalars": [0.5, 0.0, -1.0], "initial_gamma": 2.0, "l2": 0.01},
        {"fixed_weights": (0.2, 0.3, 0.5), "layer_norm": True},
        {"fixed_scalars": np.array([1.0, 2.0, 3.0])},
    ],
)
def test_config_round_trip(layers, arguments):
    mix = ScalarMix(**arguments)
    config = keras.saving.serialize_keras_object(mix)
    again = keras.saving.deserialize_keras_object(config)
    np.testing.assert_array_equal(again(layers), mix(layers))
    assert again.get_config() == mix.get_config()


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"fixed_weights": [1.0], "fixed_scalars": [1.0]}, "`fixed_weights` and `fixed_scalars`"),
        ({"fixed_weights": [0.5, 0.6]}, "sum to 1.*Received: .*1.1"),
        ({"fixed_weights": [1.5, -0.5]}, "`fixed_weights` must be numbers >= 0"),
        ({"initial_scalars": [[0.0, 1.0]]}, "`initial_scalars` must be a flat list"),
        ({"fixed_scalars": ["a", "b"]}, "`fixed_scalars` must be a flat list"),
        ({"fixed_scalars": [0.0, float("nan")]}, "`fixed_scalars` must be a flat list"),
        ({"l2": -1.0}, "`l2` must be a number >= 0"),
        ({"initial_gamma": float("nan")}, "`initial_gamma` must be a finite number"),
    ],
)
def test_bad_arguments_raise_when_the_layer_is_made(arguments, match):
    with pytest.raises(ValueError, match=match):
        ScalarMix(**arguments)


@pytest.mark.parametrize("name", ["initial_scalars", "fixed_weights"])
def test_a_wrong_number_of_layers_raises(layers, name):
    with pytest.raises(ValueError, match=f"`{name}` must have one number for each of the 3 layers"):
        ScalarMix(**{name: [0.5, 0.5]})(layers)
