"""The mix of ELMoEmbedding: start, fixed weights, several mixes, dropout."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.embedding.elmo_embedding import ELMoEmbedding
from keras_elmo.layers.scalar_mix import ScalarMix

TEXTS = tf.constant(["free entry now", "ok", ""])


def test_u23_a_fresh_layer_is_the_plain_mean(tiny_bilm):
    layer = ELMoEmbedding(tiny_bilm, output=["elmo", "word_emb", "lstm_outputs1", "lstm_outputs2"])
    np.testing.assert_allclose(layer.layer_weights, [1 / 3] * 3, atol=1e-7)
    assert layer.gamma == 1.0
    np.testing.assert_array_equal(layer.mixes[0].scalars, [0.0] * 3)
    outputs = layer(TEXTS)
    token_vectors = np.concatenate([outputs["word_emb"]] * 2, axis=-1)
    mean = (token_vectors + outputs["lstm_outputs1"] + outputs["lstm_outputs2"]) / 3
    np.testing.assert_allclose(outputs["elmo"], mean, atol=1e-6)


def test_u23_a_constant_on_every_scalar_changes_nothing_and_gamma_scales(tiny_bilm):
    layer = ELMoEmbedding(tiny_bilm, output="elmo")
    start = layer(TEXTS).numpy()
    layer.mixes[0].scalars.assign_add([5.0] * 3)
    np.testing.assert_allclose(layer(TEXTS), start, atol=1e-6)
    layer.mixes[0].gamma.assign(2.0)
    np.testing.assert_allclose(layer(TEXTS), 2 * start, atol=1e-6)
    assert layer.gamma == 2.0


def test_u23_layer_weights_sum_to_1(tiny_bilm):
    layer = ELMoEmbedding(tiny_bilm, mix=ScalarMix(initial_scalars=[0.0, np.log(2.0), np.log(5.0)]))
    np.testing.assert_allclose(layer.layer_weights, [1 / 8, 2 / 8, 5 / 8], atol=1e-6)
    assert layer.layer_weights.dtype == np.float32 and isinstance(layer.gamma, float)


def test_u25_two_mixes_of_one_run_start_equal_and_train_apart(tiny_bilm, monkeypatch):
    layer = ELMoEmbedding(tiny_bilm, num_mixes=2)
    runs = []
    embed_tokens = tiny_bilm.embed_tokens
    monkeypatch.setattr(
        tiny_bilm, "embed_tokens", lambda *given: runs.append(given) or embed_tokens(*given)
    )
    assert sum(np.prod(weight.shape) for weight in layer.trainable_weights) == 8
    with tf.GradientTape() as tape:
        first, second = layer(TEXTS)
        loss = tf.reduce_sum(first**2)
    assert len(runs) == 1
    np.testing.assert_array_equal(first, second)
    weights = layer.trainable_weights
    gradients = tape.gradient(loss, [weight.value for weight in weights])
    assert [gradient is None for gradient in gradients] == [False, False, True, True]
    keras.optimizers.SGD(0.1).apply_gradients(zip(gradients[:2], weights[:2], strict=True))
    assert layer.layer_weights.shape == (2, 3) and layer.gamma.shape == (2,)
    assert np.abs(layer.layer_weights[0] - 1 / 3).max() > 1e-4 and layer.gamma[0] != 1.0
    np.testing.assert_allclose(layer.layer_weights[1], 1 / 3, atol=1e-7)
    assert layer.gamma[1] == 1.0


def test_several_mixes_give_lists_for_the_mixed_outputs_only(tiny_bilm):
    layer = ELMoEmbedding(tiny_bilm, output=["elmo", "top", "default"], num_mixes=3)
    outputs = layer(TEXTS)
    announced = layer.compute_output_spec(keras.KerasTensor((3,), "string"))
    for found in (outputs, announced):
        assert [len(found["elmo"]), len(found["default"])] == [3, 3]
        assert len(found["top"].shape) == 3
    assert all(elmo._keras_mask is not None for elmo in outputs["elmo"])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"fixed_weights": [0.0, 0.0, 1.0]}, [0.0, 0.0, 1.0]),
        ({"fixed_scalars": [np.log(2.0), 0.0, 0.0]}, [0.5, 0.25, 0.25]),
    ],
)
def test_fixed_weights_leave_gamma_to_train(tiny_bilm, arguments, expected):
    layer = ELMoEmbedding(tiny_bilm, output=["elmo", "layers"], mix=ScalarMix(**arguments))
    outputs = layer(TEXTS)
    mixed = np.einsum("l,bltd->btd", expected, outputs["layers"])
    np.testing.assert_allclose(outputs["elmo"], mixed, atol=1e-6)
    np.testing.assert_allclose(layer.layer_weights, expected, atol=1e-7)
    assert [weight.name for weight in layer.trainable_weights] == ["gamma"]


def test_layer_norm_makes_the_layers_alike_in_size(tiny_bilm):
    mix = ScalarMix(layer_norm=True, fixed_weights=[0, 1, 0])
    layer = ELMoEmbedding(tiny_bilm, output="elmo", mix=mix)
    mixed = layer(TEXTS).numpy()
    np.testing.assert_allclose([mixed[0].mean(), mixed[0].var()], [0.0, 1.0], atol=1e-5)
    np.testing.assert_allclose([mixed[1, 0].mean(), mixed[1, 0].var()], [0.0, 1.0], atol=1e-5)
    assert np.all(mixed[1, 1:] == 0.0) and np.all(mixed[2] == 0.0)


def test_l2_reaches_the_losses_of_the_model(tiny_bilm):
    layer = ELMoEmbedding(tiny_bilm, mix=ScalarMix(initial_scalars=[1.0, 2.0, 0.0], l2=0.1))
    model = keras.Sequential([keras.Input((), dtype="string"), layer, keras.layers.Dense(1)])
    np.testing.assert_allclose(sum(model.losses), 0.5, rtol=1e-6)


def test_dropout_is_for_training_only(tiny_bilm):
    plain = ELMoEmbedding(tiny_bilm, output=["elmo", "layers"])
    layer = ELMoEmbedding(tiny_bilm, output=["elmo", "layers"], dropout=0.5)
    for training in (False, None):
        np.testing.assert_array_equal(layer(TEXTS, training=training)["elmo"], plain(TEXTS)["elmo"])
    trained = layer(TEXTS, training=True)
    words = trained["elmo"].numpy()[0]
    kept = words != 0.0
    assert 0.1 < kept.mean() < 0.9
    np.testing.assert_allclose(words[kept], 2 * plain(TEXTS)["elmo"].numpy()[0][kept], rtol=1e-5)
    np.testing.assert_array_equal(trained["layers"], plain(TEXTS)["layers"])
    np.testing.assert_array_equal(trained["elmo"]._keras_mask, plain(TEXTS)["elmo"]._keras_mask)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (
            {"mix": ScalarMix(initial_scalars=[0.0] * 4)},
            "`initial_scalars` must have one number for",
        ),
        ({"num_mixes": 0}, "`num_mixes` must be a whole number >= 1. Received: num_mixes=0"),
        ({"max_tokens": -1}, "`max_tokens` must be a whole number >= 1. Received: max_tokens=-1"),
        ({"dropout": 1.0}, "`dropout` must be a share, 0 <= dropout < 1"),
        ({"tokenizer": "spaces"}, "`tokenizer` must be one of .*'space'.*Received: .*'spaces'"),
        ({"inputs": "texts"}, "`inputs` must be one of .*Received: inputs='texts'"),
        ({"fine_tune": True, "save_frozen": False}, "`save_frozen=False` must not be used with"),
        ({"save_frozen": False}, "`save_frozen=False` needs a source that can be found again"),
    ],
)
def test_bad_arguments_raise_when_the_layer_is_made(tiny_bilm, arguments, match):
    with pytest.raises(ValueError, match=match):
        ELMoEmbedding(tiny_bilm, **arguments)


def test_a_mix_is_copied_so_that_no_two_layers_share_one(tiny_bilm):
    mix = ScalarMix(initial_scalars=[1.0, 0.0, -1.0], name="given")
    one, other = (ELMoEmbedding(tiny_bilm, mix=mix) for _ in range(2))
    one.mix.gamma.assign(3.0)
    assert (one.gamma, other.gamma, mix.built) == (3.0, 1.0, False)
    assert one.mix is one.mixes[0] and one.mix.initial_scalars == mix.initial_scalars


def test_a_mix_that_trained_gives_its_weights(tiny_bilm):
    trained = ELMoEmbedding(tiny_bilm, num_mixes=2)
    trained.mixes[1].scalars.assign([1.0, 2.0, 3.0])
    trained.mixes[1].gamma.assign(0.5)
    one = ELMoEmbedding(tiny_bilm, mix=trained.mixes[1])
    np.testing.assert_array_equal(one(TEXTS), trained(TEXTS)[1])


def test_a_frozen_mix_stays_frozen(tiny_bilm):
    layer = ELMoEmbedding(tiny_bilm, mix=ScalarMix(trainable=False))
    assert layer.trainable and layer.trainable_weights == []
    assert ELMoEmbedding.from_config(layer.get_config()).trainable_weights == []


def test_what_is_no_mix_is_an_error(tiny_bilm):
    with pytest.raises(TypeError, match="`mix` must be a keras_elmo.ScalarMix.*Received: mix='x'"):
        ELMoEmbedding(tiny_bilm, mix="x")
