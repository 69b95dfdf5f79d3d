"""ELMoEmbedding in every kind of Keras model and in tf.data."""

import keras
import numpy as np
import tensorflow as tf

from keras_elmo.embedding.elmo_embedding import ELMoEmbedding

TEXTS = tf.constant(["free entry now", "ok", "", "call me"])
LABELS = np.array([[1.0], [0.0], [0.0], [1.0]])


def fit(model, inputs, run_eagerly=True):
    """One epoch; the loss is finite and the mix has moved."""
    before = None if not model.built else model.trainable_weights[0].numpy()
    model.compile("adam", "binary_crossentropy", run_eagerly=run_eagerly)
    history = model.fit(inputs, LABELS, batch_size=3, epochs=1, verbose=0)
    assert np.isfinite(history.history["loss"]).all()
    assert before is None or np.any(model.trainable_weights[0].numpy() != before)


def dense():
    return keras.layers.Dense(1, activation="sigmoid")


def test_u29_every_way_to_build_a_model_gives_equal_results(tiny_bilm):
    layer, head = ELMoEmbedding(tiny_bilm), dense()
    sequential = keras.Sequential([keras.Input((), dtype="string"), layer, head])
    flat = keras.Input((), dtype="string")
    functional = keras.Model(flat, head(layer(flat)))
    column = keras.Input((1,), dtype="string")
    functional_column = keras.Model(column, head(layer(column)))
    without_input = keras.Sequential()
    without_input.add(layer)
    without_input.add(head)
    expected = sequential(TEXTS)
    assert expected.shape == (4, 1)
    for model, inputs in (
        (functional, TEXTS),
        (functional_column, TEXTS[:, tf.newaxis]),
        (without_input, TEXTS),
    ):
        np.testing.assert_allclose(model(inputs), expected, atol=1e-6)


def test_u29_sequential_without_input_trains(tiny_bilm):
    model = keras.Sequential()
    model.add(ELMoEmbedding(tiny_bilm))
    model.add(dense())
    texts = np.array([text.decode() for text in TEXTS.numpy()], dtype=object)
    fit(model, texts, run_eagerly=False)
    predicted = model.predict(texts, batch_size=3, verbose=0)
    np.testing.assert_allclose(predicted, model(TEXTS), atol=1e-6)
    assert np.isfinite(model.evaluate(texts, LABELS, verbose=0))
    model.summary(print_fn=lambda line: None)
    assert model.count_params() > 4


def test_functional_model_trains(tiny_bilm):
    inputs = keras.Input((1,), dtype="string")
    outputs = ELMoEmbedding(tiny_bilm, output=["default", "elmo"])(inputs)
    states = keras.layers.LSTM(3)(outputs["elmo"])
    features = keras.layers.Concatenate()([outputs["default"], states])
    fit(keras.Model(inputs, dense()(features)), TEXTS[:, tf.newaxis])


def test_tokens_train_ragged_and_answer_padded(tiny_bilm):
    ragged = tf.strings.split(TEXTS)
    inputs = keras.Input((None,), dtype="string")
    model = keras.Sequential([inputs, ELMoEmbedding(tiny_bilm), dense()])
    fit(model, ragged)
    np.testing.assert_allclose(model(ragged.to_tensor("")), model(ragged), atol=1e-6)


def test_an_unmixed_output_trains_its_head_without_a_warning(tiny_bilm):
    inputs = keras.Input((), dtype="string")
    vectors = ELMoEmbedding(tiny_bilm, output="concat")(inputs)
    model = keras.Model(inputs, dense()(keras.layers.GlobalAveragePooling1D()(vectors)))
    # Keras' own pooling divides by the number of words, so that a blank text would give NaN.
    fit(model, tf.constant(["free entry now", "ok", "no", "call me"]))


def test_tokens_train_without_input(tiny_bilm):
    model = keras.Sequential([ELMoEmbedding(tiny_bilm), dense()])
    fit(model, tf.strings.split(TEXTS))
    assert model(tf.constant([["call me"]])).shape == (1, 1)


class Classifier(keras.Model):
    """A subclassed model, as a user writes it."""

    def __init__(self, bilm):
        super().__init__()
        self.embedding = ELMoEmbedding(bilm)
        self.head = dense()

    def call(self, inputs, training=None):
        return self.head(self.embedding(inputs, training=training))


def test_subclassed_model_trains(tiny_bilm):
    model = Classifier(tiny_bilm)
    fit(model, TEXTS)
    assert model(TEXTS).shape == (4, 1)
    assert len(model.trainable_weights) == 4


def test_names_are_numbered_as_keras_numbers_them(tiny_bilm):
    keras.utils.clear_session()
    names = [ELMoEmbedding(tiny_bilm).name for _ in range(2)]
    assert names == ["elmo_embedding", "elmo_embedding_1"]
    assert ELMoEmbedding(tiny_bilm, name="mine").name == "mine"


def test_in_tf_data_map(tiny_bilm):
    layer = ELMoEmbedding(tiny_bilm)
    dataset = tf.data.Dataset.from_tensor_slices(TEXTS).batch(3).map(layer)
    mapped = np.concatenate(list(dataset.as_numpy_iterator()))
    np.testing.assert_allclose(mapped, layer(TEXTS), atol=1e-6)
    assert dataset.element_spec.shape.as_list() == [None, 16]


def test_in_a_graph_shapes_are_known(tiny_bilm):
    layer = ELMoEmbedding(tiny_bilm, output=["default", "elmo", "layers"])
    signature = tf.TensorSpec([None, 7], tf.string)
    outputs = tf.function(layer).get_concrete_function(signature).structured_outputs
    assert outputs["default"].shape.as_list() == [None, 16]
    assert outputs["elmo"].shape.as_list() == [None, 7, 16]
    assert outputs["layers"].shape.as_list() == [None, 3, 7, 16]


def test_exported_model_serves_strings(tiny_bilm, tmp_path):
    inputs = keras.Input((), dtype="string", name="texts")
    model = keras.Model(inputs, ELMoEmbedding(tiny_bilm, max_tokens=2)(inputs))
    model.export(tmp_path / "served")
    served = tf.saved_model.load(tmp_path / "served")
    np.testing.assert_allclose(served.serve(TEXTS), tf.function(model)(TEXTS), atol=1e-6)


def test_works_under_a_global_mixed_policy(tiny_directory):
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        layer = ELMoEmbedding(str(tiny_directory))
        model = keras.Sequential([layer, keras.layers.Dense(1, activation="sigmoid")])
        fit(model, TEXTS)
        assert layer(TEXTS).dtype == tf.float32
    finally:
        keras.config.set_dtype_policy(before)
