"""What of ELMoEmbedding is trained: L+2 scalars a mix, the biLM only on request."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.embedding.elmo_embedding import ELMoEmbedding
from keras_elmo.layers.scalar_mix import ScalarMix

TEXTS = tf.constant(["free entry now", "ok", ""])


def trainable_scalars(layer):
    return sum(int(np.prod(weight.shape)) for weight in layer.trainable_weights)


def make_model(layer):
    layers = [keras.Input((), dtype="string"), layer]
    return keras.Sequential(layers + [keras.layers.Dense(256), keras.layers.Dense(1)])


def test_u21_exactly_the_mix_is_trainable(tiny_bilm):
    layer = ELMoEmbedding(tiny_bilm)
    model = make_model(layer)
    assert trainable_scalars(layer) == 4
    frozen = sum(weight.numpy().size for weight in tiny_bilm.weights)
    assert layer.count_params() == frozen + 4
    heads = 16 * 256 + 256 + 256 + 1
    lines = []
    model.summary(print_fn=lines.append)
    text = "\n".join(lines)
    assert f"Trainable params: {heads + 4:,}" in text
    assert f"Non-trainable params: {frozen:,}" in text


def test_u21_flipping_never_thaws_the_bilm(tiny_bilm):
    layer = ELMoEmbedding(tiny_bilm)
    model = make_model(layer)
    layer.trainable = False
    assert trainable_scalars(layer) == 0
    layer.trainable = True
    assert trainable_scalars(layer) == 4
    model.trainable = False
    model.trainable = True
    layer.source.trainable = True
    tiny_bilm.trainable = True
    assert trainable_scalars(layer) == 4
    assert not any(weight.trainable for weight in tiny_bilm.weights)


def test_u21_made_frozen_it_counts_nothing_until_it_is_turned_on(tiny_bilm):
    layer = ELMoEmbedding(tiny_bilm, trainable=False)
    model = make_model(layer)
    assert trainable_scalars(layer) == 0
    assert len(model.trainable_weights) == 4  # the two Dense layers
    layer.trainable = True
    assert trainable_scalars(layer) == 4


def test_training_moves_the_mix_and_leaves_the_bilm(tiny_bilm):
    layer = ELMoEmbedding(tiny_bilm)
    model = make_model(layer)
    before = tiny_bilm.fingerprint()
    model.compile(keras.optimizers.SGD(0.1), "mse", run_eagerly=True)
    model.fit(TEXTS, np.ones((3, 1)), verbose=0)
    assert tiny_bilm.fingerprint() == before
    assert layer.gamma != 1.0 and np.ptp(layer.layer_weights) > 0.0


def test_no_gradient_goes_into_a_frozen_bilm(make_tiny_bilm):
    trained = make_tiny_bilm(frozen=False)
    layer = ELMoEmbedding(trained)
    assert trainable_scalars(layer) == 4
    with tf.GradientTape() as tape:
        variables = [weight.value for weight in layer.source.bilm.weights]
        tape.watch(variables)
        loss = tf.reduce_sum(layer(TEXTS) ** 2)
    assert tape.gradient(loss, variables) == [None] * len(variables)
    # The object that was given stays as it is, to be trained further.
    assert all(weight.trainable for weight in trained.weights)


@pytest.mark.parametrize("frozen", [True, False])
def test_fine_tune_trains_the_bilm_too(make_tiny_bilm, frozen):
    bilm = make_tiny_bilm(frozen=frozen)
    layer = ELMoEmbedding(bilm, fine_tune=True)
    model = make_model(layer)
    count = sum(weight.numpy().size for weight in bilm.weights)
    assert trainable_scalars(layer) == count + 4
    layer.trainable = False
    assert trainable_scalars(layer) == 0
    layer.trainable = True
    assert trainable_scalars(layer) == count + 4
    before = layer.source.bilm.arrays()
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(TEXTS) - 1.0) ** 2)
    weights = layer.trainable_weights
    gradients = tape.gradient(loss, [weight.value for weight in weights])
    keras.optimizers.SGD(0.1).apply_gradients(zip(gradients, weights, strict=True))
    after = layer.source.bilm.arrays()
    assert all(np.abs(after[key] - array).max() > 0.0 for key, array in before.items())


def test_without_a_mixed_output_there_is_no_mix_to_train(tiny_bilm):
    layer = ELMoEmbedding(
        tiny_bilm, output=["top", "layers"], mix=ScalarMix(initial_scalars=[1.0, 0.0, 0.0])
    )
    layer(TEXTS)
    assert layer.mixes == [] and trainable_scalars(layer) == 0
    for name in ("layer_weights", "gamma"):
        with pytest.raises(ValueError, match="must have a mix.*Put out 'default' or 'elmo' too"):
            getattr(layer, name)
    again = ELMoEmbedding.from_config({**layer.get_config(), "output": "elmo"})
    np.testing.assert_allclose(again.layer_weights, np.exp([1, 0, 0]) / (np.e + 2), atol=1e-6)


def test_dropout_of_a_bilm_in_training_stays_out_of_the_embedding(make_tiny_bilm):
    bilm = make_tiny_bilm(dropout=0.5)
    layer = ELMoEmbedding(bilm)
    np.testing.assert_array_equal(layer(TEXTS, training=True), layer(TEXTS, training=False))
