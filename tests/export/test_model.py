import os

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_elmo import ELMoEmbedding, Sequential
from keras_elmo.export.model import export_model

TEXTS = ["free entry now", "", "héé 日本"]


def serve(model, directory, **inputs):
    model.export(directory)
    signature = tf.saved_model.load(os.fspath(directory)).signatures["serving_default"]
    return signature(**{name: tf.constant(value) for name, value in inputs.items()})


@pytest.fixture
def make_model(make_layer):
    """A function of the input's shape, or None for a model that was only called, to a model."""

    def make(shape, output="default", **options):
        layers = [make_layer(output=output, **options), keras.layers.Dense(3, "softmax")]
        if shape is not None:
            layers.insert(0, keras.Input(shape, dtype="string"))
        return Sequential(layers)

    return make


@pytest.mark.parametrize("shape", [None, (), (1,)])
def test_a_model_of_texts(make_model, shape, tmp_path):
    model = make_model(shape)
    model.run_eagerly = True
    expected = model.predict(TEXTS, verbose=0)
    received = serve(model, tmp_path / "m", text=TEXTS)
    assert set(received) == {"output"}
    np.testing.assert_allclose(received["output"], expected, atol=1e-5)
    assert received["output"].shape == (3, 3)


def test_a_model_of_tokens(make_model, tmp_path):
    model = make_model((None,))
    tokens = np.array([["New York", "now"], ["ok", ""], ["", ""]])
    received = serve(model, tmp_path / "m", tokens=tokens)
    np.testing.assert_allclose(received["output"], model(tokens), atol=1e-5)


def test_one_token_a_row_is_no_text_where_the_layer_says_so(make_model, tmp_path):
    model = make_model((1,), inputs="tokens")
    tokens = np.array([["New York"], ["b c"]])
    received = serve(model, tmp_path / "m", tokens=tokens)
    live = model.layers[1](model.layers[0](tokens))
    np.testing.assert_allclose(received["output"], live, atol=1e-5)


def test_outputs_of_a_functional_model_keep_their_names(make_layer, tmp_path):
    text = keras.Input((), dtype="string")
    model = keras.Model(text, make_layer(output=["default", "elmo"])(text))
    export_model(model, tmp_path / "m")
    signature = tf.saved_model.load(os.fspath(tmp_path / "m")).signatures["serving_default"]
    received, expected = signature(text=tf.constant(TEXTS)), model(tf.constant(TEXTS))
    assert set(received) == {"default", "elmo"}
    for name in received:
        np.testing.assert_allclose(received[name], expected[name], atol=1e-5)


def test_a_model_of_numbers_is_exported_by_keras(tmp_path):
    model = Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.export(tmp_path / "m")
    loaded = tf.saved_model.load(os.fspath(tmp_path / "m"))
    np.testing.assert_allclose(loaded.serve(tf.ones((3, 2))), model(tf.ones((3, 2))), atol=1e-6)


def test_what_cannot_be_exported_is_told(make_tiny_bilm, make_model, tmp_path):
    with pytest.raises(ValueError, match="one input of strings. Received: .*not built.*call it"):
        Sequential([ELMoEmbedding(make_tiny_bilm())]).export(tmp_path / "m")
    with pytest.raises(ValueError, match=r"format='onnx', options \['verbose'\]"):
        make_model(()).export(tmp_path / "m", format="onnx", verbose=True)
    numbers = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    with pytest.raises(ValueError, match="must have one input of strings.*`keras.Model.export`"):
        export_model(numbers, tmp_path / "m")
    assert os.listdir(tmp_path) == []
