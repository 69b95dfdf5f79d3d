"""What ELMoEmbedding puts out: names, shapes, values, boundaries."""

import dataclasses

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_elmo.embedding.elmo_embedding import ELMoEmbedding
from keras_elmo.layers.scalar_mix import ScalarMix

NAMES = [
    "default",
    "elmo",
    "word_emb",
    "lstm_outputs1",
    "lstm_outputs2",
    "top",
    "average",
    "concat",
    "layers",
]
TEXTS = ["free entry now", "ok", ""]


def test_output_is_float32_and_has_the_shape_that_was_announced(tiny_bilm):
    layer = ELMoEmbedding(tiny_bilm, output=NAMES)
    outputs = layer(tf.constant(TEXTS))
    announced = layer.compute_output_spec(keras.KerasTensor((3,), "string"))
    assert list(outputs) == list(announced) == NAMES
    shapes = {name: tuple(output.shape) for name, output in outputs.items()}
    assert shapes == {
        "default": (3, 16),
        "elmo": (3, 3, 16),
        "word_emb": (3, 3, 8),
        "lstm_outputs1": (3, 3, 16),
        "lstm_outputs2": (3, 3, 16),
        "top": (3, 3, 16),
        "average": (3, 3, 16),
        "concat": (3, 3, 48),
        "layers": (3, 3, 3, 16),
    }
    for name, output in outputs.items():
        assert output.dtype == tf.float32 and announced[name].dtype == "float32"
        assert tf.TensorShape(announced[name].shape).is_compatible_with(output.shape)
        assert len(announced[name].shape) == len(shapes[name])


def test_outputs_are_what_their_names_say(tiny_bilm):
    outputs = ELMoEmbedding(tiny_bilm, output=NAMES)(tf.constant(TEXTS))
    tokens = tf.ragged.constant([text.split() for text in TEXTS], dtype=tf.string)
    layers = tiny_bilm.embed_tokens(tokens).layers.numpy()[:, :, 1:-1].copy()
    for row, text in enumerate(TEXTS):
        layers[row, :, len(text.split()) :] = 0.0
    vectors = {
        "elmo": layers.mean(axis=1),
        "word_emb": layers[:, 0, :, :8],
        "lstm_outputs1": layers[:, 1],
        "lstm_outputs2": layers[:, 2],
        "top": layers[:, 2],
        "average": layers.mean(axis=1),
        "concat": np.concatenate([layers[:, k] for k in range(3)], axis=-1),
        "layers": layers,
        "default": [layers.mean(axis=1)[0].mean(axis=0), layers.mean(axis=1)[1, 0], np.zeros(16)],
    }
    for name, expected in vectors.items():
        np.testing.assert_allclose(outputs[name], expected, atol=1e-6, err_msg=name)
    np.testing.assert_array_equal(layers[:, 0, :, :8], layers[:, 0, :, 8:])


@pytest.mark.parametrize("name", ["default", "concat"])
def test_a_single_name_gives_the_tensor_of_the_dict(tiny_bilm, name):
    single = ELMoEmbedding(tiny_bilm, output=name)(tf.constant(TEXTS))
    listed = ELMoEmbedding(tiny_bilm, output=[name])(tf.constant(TEXTS))
    np.testing.assert_array_equal(single, listed[name])


def test_deeper_models_have_more_lstm_outputs(make_tiny_bilm, tiny_config):
    bilm = make_tiny_bilm(dataclasses.replace(tiny_config, n_layers=3))
    outputs = ELMoEmbedding(bilm, output=["lstm_outputs3", "top", "concat"])(tf.constant(TEXTS))
    np.testing.assert_array_equal(outputs["lstm_outputs3"], outputs["top"])
    assert outputs["concat"].shape == (3, 3, 64)


@pytest.mark.parametrize("output", ["lstm_outputs3", "lstm_outputs0", [], ["elmo", "elmo"]])
def test_an_unknown_output_is_an_error_that_lists_what_there_is(tiny_bilm, output):
    with pytest.raises(
        ValueError, match="`output` must be one of default, elmo.*lstm_outputs2, top"
    ):
        ELMoEmbedding(tiny_bilm, output=output)


def test_boundaries_are_kept_on_request(tiny_bilm):
    names = ["elmo", "layers", "default"]
    plain = ELMoEmbedding(tiny_bilm, output=names)(tf.constant(TEXTS))
    kept = ELMoEmbedding(tiny_bilm, output=names, keep_boundaries=True)(tf.constant(TEXTS))
    assert kept["elmo"].shape == (3, 5, 16) and kept["layers"].shape == (3, 3, 5, 16)
    expected = [[True] * 5, [True] * 3 + [False] * 2, [True] * 2 + [False] * 3]
    np.testing.assert_array_equal(kept["elmo"]._keras_mask, expected)
    np.testing.assert_array_equal(kept["elmo"][0, 1:4], plain["elmo"][0])
    np.testing.assert_array_equal(kept["elmo"][1, 1:2], plain["elmo"][1, :1])
    tokens = tf.ragged.constant([text.split() for text in TEXTS], dtype=tf.string)
    np.testing.assert_array_equal(kept["layers"], tiny_bilm.embed_tokens(tokens).layers)
    # The pooled vector is the mean over the words all the same.
    np.testing.assert_allclose(kept["default"], plain["default"], atol=1e-6)
    assert np.all(kept["default"][2].numpy() == 0.0)


def test_u01_blank_rows_are_zero_and_harm_nothing(tiny_bilm):
    texts = tf.constant(["free entry now", "", "   "])
    layer = ELMoEmbedding(tiny_bilm, output=["elmo", "default"])
    outputs = layer(texts)
    assert outputs["elmo"].shape == (3, 3, 16)
    np.testing.assert_array_equal(
        outputs["elmo"]._keras_mask, [[True] * 3, [False] * 3, [False] * 3]
    )
    assert np.all(outputs["elmo"][1:].numpy() == 0.0)
    assert np.all(outputs["default"][1:].numpy() == 0.0)
    assert np.isfinite(outputs["elmo"].numpy()).all() and np.any(outputs["default"][0])
    alone = layer(texts[:1])
    np.testing.assert_allclose(outputs["elmo"][:1], alone["elmo"], atol=1e-5)
    np.testing.assert_allclose(outputs["default"][:1], alone["default"], atol=1e-5)


@pytest.mark.parametrize("arguments", [{}, {"fine_tune": True}])
def test_u01_a_training_step_with_blank_rows_has_finite_gradients(tiny_bilm, arguments):
    layer = ELMoEmbedding(tiny_bilm, **arguments)
    dense = keras.layers.Dense(1)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((dense(layer(tf.constant(["free entry now", "", "   "]))) - 1.0) ** 2)
    variables = [v.value for v in layer.trainable_variables + dense.trainable_variables]
    gradients = [tf.convert_to_tensor(gradient) for gradient in tape.gradient(loss, variables)]
    assert np.isfinite(loss) and all(np.isfinite(gradient).all() for gradient in gradients)
    assert any(np.any(gradient) for gradient in gradients)


def test_a_batch_without_a_word_has_time_1(tiny_bilm):
    texts = ["", " "]
    outputs = ELMoEmbedding(tiny_bilm, output=NAMES)(tf.constant(texts))
    assert outputs["elmo"].shape == (len(texts), 1, 16)
    np.testing.assert_array_equal(outputs["elmo"]._keras_mask, [[False]] * len(texts))
    assert all(np.all(output.numpy() == 0.0) for output in outputs.values())


@pytest.fixture(scope="module")
def one_layer(make_tiny_bilm):
    return ELMoEmbedding(make_tiny_bilm(), mix=ScalarMix(layer_norm=True))


@settings(max_examples=15, deadline=None)
@given(texts=st.lists(st.text(max_size=30), min_size=1, max_size=4))
def test_u03_u13_a_row_depends_on_nothing_but_its_text(one_layer, texts):
    pooled = one_layer(texts).numpy()
    assert np.isfinite(pooled).all()
    np.testing.assert_allclose(one_layer(texts[-1:]).numpy(), pooled[-1:], atol=1e-5)
    np.testing.assert_array_equal(one_layer(texts), pooled)


@pytest.mark.parametrize("policy", ["mixed_float16", "float64"])
def test_outputs_stay_float32_under_any_dtype_policy(tiny_directory, policy):
    texts = tf.constant(TEXTS)
    expected = ELMoEmbedding(str(tiny_directory))(texts)
    layer = ELMoEmbedding(str(tiny_directory), dtype=policy)
    model = keras.Sequential([layer, keras.layers.Dense(2, dtype=policy)])
    assert layer(texts).dtype == tf.float32
    np.testing.assert_allclose(layer(texts), expected, atol=0.1)
    assert {weight.dtype for weight in layer.weights} == {"float32"}
    assert model(texts).shape == (3, 2)
