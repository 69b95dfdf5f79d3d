"""The masks that ELMoEmbedding gives to the layers above it."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.embedding.elmo_embedding import ELMoEmbedding

LENGTHS = [3, 10, 0]
TOKENS = tf.constant([[f"w{t}" if t < n else "" for t in range(10)] for n in LENGTHS])
MASK = np.arange(10) < np.array(LENGTHS)[:, np.newaxis]


class MaskSpy(keras.layers.LSTM):
    """An LSTM that keeps the masks it was called with."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.seen = []

    def call(self, sequences, initial_state=None, mask=None, training=False):
        self.seen.append(mask)
        return super().call(sequences, initial_state, mask, training)


def make_tagger(bilm):
    tokens = keras.Input((10,), dtype="string")
    vectors = ELMoEmbedding(bilm, output="elmo")(tokens)
    states = keras.layers.Bidirectional(keras.layers.LSTM(4, return_sequences=True))(vectors)
    dense = keras.layers.Dense(4, activation="softmax")
    # Before 3.9, Keras' TimeDistributed fails in a graph on any mask of unknown batch size.
    is_old = tuple(int(part) for part in keras.__version__.split(".")[:2]) < (3, 9)
    tags = (dense if is_old else keras.layers.TimeDistributed(dense))(states)
    return keras.Model(tokens, tags), dense


def test_u17_a_tagger_trains_on_padded_tokens(tiny_bilm):
    model, dense = make_tagger(tiny_bilm)
    model.compile("adam", "sparse_categorical_crossentropy", run_eagerly=True)
    labels = np.arange(30).reshape(3, 10) % 4
    history = model.fit(TOKENS, labels, batch_size=2, epochs=1, verbose=0)
    assert np.isfinite(history.history["loss"]).all()
    assert model.output_shape == (None, 10, 4)
    # Tag 0 is far likelier than tag 3, so that the loss tells them apart.
    dense.bias.assign([4.0, 0.0, 0.0, 0.0])
    before = model.evaluate(TOKENS, np.zeros((3, 10)), verbose=0)
    at_padding = model.evaluate(TOKENS, np.where(MASK, 0, 3), verbose=0)
    at_words = model.evaluate(TOKENS, np.where(MASK, 3, 0), verbose=0)
    np.testing.assert_allclose(at_padding, before, atol=1e-6)
    assert at_words > before + 0.5


def test_u17_compute_mask_and_the_layers_above_agree(tiny_bilm):
    layer = ELMoEmbedding(tiny_bilm, output="elmo")
    np.testing.assert_array_equal(layer.compute_mask(TOKENS), MASK)
    assert layer.compute_mask(TOKENS).dtype == tf.bool
    inputs, spy = keras.Input((10,), dtype="string"), MaskSpy(4)
    model = keras.Model(inputs, spy(layer(inputs)))
    spy.seen.clear()
    model(TOKENS)
    np.testing.assert_array_equal(spy.seen[-1], MASK)


def test_a_dict_of_outputs_has_a_mask_where_time_is_the_second_axis(tiny_bilm):
    names = ["default", "elmo", "word_emb", "lstm_outputs2", "top", "average", "concat", "layers"]
    layer = ELMoEmbedding(tiny_bilm, output=names)
    masks = layer.compute_mask(TOKENS)
    for name, output in layer(TOKENS).items():
        found = getattr(output, "_keras_mask", None)
        if name in ("default", "layers"):
            assert found is None and masks[name] is None
        else:
            np.testing.assert_array_equal(found, MASK, err_msg=name)
            np.testing.assert_array_equal(masks[name], MASK, err_msg=name)


def test_boundaries_count_in_the_mask(tiny_bilm):
    layer = ELMoEmbedding(tiny_bilm, output="elmo", keep_boundaries=True)
    mask = layer.compute_mask(TOKENS)
    np.testing.assert_array_equal(mask, np.arange(12) < np.array([[5], [12], [2]]))
    np.testing.assert_array_equal(layer(TOKENS)._keras_mask, mask)


@pytest.mark.parametrize(
    "above",
    [
        lambda x: keras.layers.GlobalAveragePooling1D()(x),
        lambda x: keras.layers.GRU(4)(keras.layers.Dropout(0.1)(x)),
    ],
    ids=["average", "gru"],
)
def test_layers_above_give_the_same_whatever_the_padding(tiny_bilm, above):
    inputs = keras.Input((None,), dtype="string")
    model = keras.Model(inputs, above(ELMoEmbedding(tiny_bilm, output="elmo")(inputs)))
    narrow = model(TOKENS[:1, :4])
    wide = model(TOKENS[:1])
    np.testing.assert_allclose(narrow, wide, atol=1e-5)
