"""What ELMoEmbedding takes: texts and tokens, in tensors and in containers."""

import concurrent.futures
import dataclasses
import warnings

import keras
import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

from keras_elmo.embedding.elmo_embedding import ELMoEmbedding

TEXTS = ["I agree", "no"]
ROWS = [["I", "agree"], ["no"]]
PADDED = [["I", "agree", ""], ["no", "", ""]]


@pytest.fixture
def layer(tiny_bilm):
    return ELMoEmbedding(tiny_bilm, output="elmo")


@pytest.mark.parametrize(
    "texts",
    [
        TEXTS,
        np.array(TEXTS, dtype=object),
        np.array(TEXTS, dtype=object)[:, np.newaxis],
        pd.DataFrame({"text": TEXTS}),
        tf.constant(TEXTS)[:, tf.newaxis],
    ],
    ids=lambda texts: f"{type(texts).__name__}-{getattr(texts, 'shape', '')}",
)
def test_texts_in_any_container_are_read_alike(layer, texts):
    np.testing.assert_array_equal(layer(texts), layer(tf.constant(TEXTS)))


@pytest.mark.parametrize(
    "tokens",
    [
        ROWS,
        tf.ragged.constant(ROWS),
        tf.constant(PADDED),
        np.array(PADDED, dtype=object),
        {"tokens": tf.constant(PADDED), "sequence_len": tf.constant([2, 1])},
        {"tokens": np.array([["I", "agree"], ["no", "left out"]]), "sequence_len": [2, 1]},
        {"tokens": ROWS},
    ],
    ids=lambda tokens: type(tokens).__name__,
)
def test_u11_tokens_give_what_their_text_gives(layer, tokens):
    expected = layer(tf.constant(TEXTS))
    outputs = layer(tokens)
    np.testing.assert_allclose(outputs[:, :2], expected, atol=1e-6)
    assert np.all(outputs[:, 2:].numpy() == 0.0)
    np.testing.assert_array_equal(outputs._keras_mask[:, :2], expected._keras_mask)


def test_u11_a_token_with_a_space_stays_one(layer):
    assert layer([["New York", "is", "big"]]).shape == (1, 3, 16)
    assert layer(["New York is big"]).shape == (1, 4, 16)


def test_padded_tokens_keep_their_time_axis(layer):
    assert layer(tf.constant(PADDED)).shape == (2, 3, 16)
    assert layer(tf.fill((2, 4), "")).shape == (2, 4, 16)
    assert layer(tf.ragged.constant(ROWS)).shape == (2, 2, 16)
    assert layer(tf.zeros((2, 0), tf.string)).shape == (2, 1, 16)


COLUMN = tf.constant([["call me"], ["ok"]])


def test_auto_takes_one_column_for_texts(tiny_bilm):
    layer = ELMoEmbedding(tiny_bilm, output="elmo")
    assert layer(COLUMN).shape == (2, 2, 16)
    np.testing.assert_array_equal(layer(COLUMN), layer(COLUMN[:, 0]))


def functional(layer, *shape):
    inputs = keras.Input(shape, dtype="string")
    return keras.Model(inputs, layer(inputs))


def test_what_an_input_declares_holds_for_its_model_and_not_for_the_layer(layer):
    before = layer(COLUMN).numpy()
    of_tokens, of_texts = functional(layer, None), functional(layer, 1)
    for _ in range(2):
        assert of_tokens.predict(COLUMN, verbose=0).shape == (2, 1, 16)
        assert of_texts.predict(COLUMN, verbose=0).shape == (2, 2, 16)
        np.testing.assert_array_equal(layer(COLUMN), before)
        assert layer(tf.constant(PADDED)).shape == (2, 3, 16)
    wide = of_tokens.predict(tf.constant([["call me", ""]]), verbose=0)
    np.testing.assert_allclose(wide[:, :1], of_tokens(COLUMN[:1]), atol=1e-6)


def test_a_model_of_texts_is_given_no_tokens(tiny_bilm):
    model = keras.Sequential([ELMoEmbedding(tiny_bilm)])
    model.predict(tf.constant([["New York"]]), verbose=0)
    with pytest.raises(ValueError, match=r"raw texts of shape \(batch, 1\) must be given these"):
        model(tf.constant([["New York", ""]]))


def test_a_model_that_began_with_tokens_takes_a_column_for_tokens(tiny_bilm):
    model = keras.Sequential([ELMoEmbedding(tiny_bilm, output="elmo")])
    assert model(tf.constant(PADDED)).shape == (2, 3, 16)
    assert model(COLUMN).shape == (2, 1, 16)


def test_threads_with_texts_and_tokens_do_not_disturb_each_other(layer):
    kinds = {"texts": COLUMN, "tokens": tf.constant(PADDED)}
    expected = {name: layer(inputs).numpy() for name, inputs in kinds.items()}
    with concurrent.futures.ThreadPoolExecutor(4) as executor:
        names = [*kinds] * 12
        found = list(executor.map(lambda name: layer(kinds[name]).numpy(), names))
    for name, vectors in zip(names, found, strict=True):
        np.testing.assert_array_equal(vectors, expected[name])


def test_output_shapes_can_be_asked_for_and_change_nothing(tiny_bilm):
    layer = ELMoEmbedding(tiny_bilm, output=["elmo", "default"])
    assert layer.compute_output_shape((2, 5)) == {"elmo": (2, 5, 16), "default": (2, 16)}
    assert layer.compute_output_shape((None, 1))["elmo"] == (None, None, 16)
    assert layer(COLUMN)["elmo"].shape == (2, 2, 16)
    assert layer.count_params() > 4


@pytest.mark.parametrize("spec", [(None,), (None, 1), (None, None)])
def test_a_batch_of_no_rows_in_graph(tiny_bilm, spec):
    layer = ELMoEmbedding(tiny_bilm, output=["elmo", "default"])
    empty = tf.zeros([0, 1][: len(spec)], tf.string)
    call = tf.function(lambda x: layer(x), input_signature=[tf.TensorSpec(spec, tf.string)])
    outputs = call(empty)
    assert outputs["default"].shape == (0, 16) and outputs["elmo"].shape == (0, 1, 16)


def test_inputs_can_be_said_to_be_texts_or_tokens(tiny_bilm):
    column = tf.constant([["call me"], ["ok"]])
    tokens = ELMoEmbedding(tiny_bilm, output="elmo", inputs="tokens")
    texts = ELMoEmbedding(tiny_bilm, output="elmo", inputs="text")
    assert tokens(column).shape == (2, 1, 16) and texts(column).shape == (2, 2, 16)
    with pytest.raises(ValueError, match="With `inputs='tokens'` the layer takes tokens of shape"):
        tokens(tf.constant(TEXTS))
    with pytest.raises(ValueError, match="With `inputs='text'` the layer takes raw texts"):
        texts(tf.constant(PADDED))
    with pytest.raises(ValueError, match="With `inputs='text'` the layer takes raw texts"):
        texts({"tokens": column})


def test_tokenizer_splits_texts_and_none_takes_the_source_s(make_tiny_bilm, tiny_config):
    text = ["don't,  stop"]
    bilm = make_tiny_bilm(dataclasses.replace(tiny_config, tokenizer="words"))
    assert ELMoEmbedding(bilm).tokenizer == "words"
    assert ELMoEmbedding(make_tiny_bilm()).tokenizer == "space"
    by_words = ELMoEmbedding(bilm, output="elmo")(text)
    by_space = ELMoEmbedding(bilm, output="elmo", tokenizer="space")(text)
    assert by_space.shape[1] == 2 < by_words.shape[1]


def test_numbers_are_an_error_that_says_what_to_do(layer):
    with pytest.raises(TypeError, match="`tokens` must be a string tensor.*Split raw sentences"):
        layer(tf.constant([[1, 2]]))


def test_numbers_in_a_symbolic_call_are_an_error(layer):
    with pytest.raises(TypeError, match=r'dtype=float32, shape=\(None,\).*dtype="string"'):
        layer(keras.Input(()))


@pytest.mark.parametrize("inputs", [tf.constant("one text"), tf.constant([[["a"]]])])
def test_a_wrong_rank_is_an_error(layer, inputs):
    with pytest.raises(ValueError, match="the layer takes raw texts of shape"):
        layer(inputs)


@pytest.mark.parametrize("keys", [["token"], ["tokens", "lengths"], []])
def test_an_unknown_key_is_an_error(layer, keys):
    with pytest.raises(ValueError, match="must have the key 'tokens' and may have 'sequence_len'"):
        layer({key: tf.constant(PADDED) for key in keys})


def long_text(words):
    return [" ".join(f"w{number}" for number in range(words)), "ok"]


def test_u19_long_rows_are_kept_whole(layer):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outputs = tf.function(layer)(tf.constant(long_text(600)[:1]))
    assert outputs.shape == (1, 600, 16) and np.isfinite(outputs).all()
    assert np.any(outputs[0, -1])


def test_u19_max_tokens_keeps_exactly_that_many_and_warns(tiny_bilm):
    layer = ELMoEmbedding(tiny_bilm, output="elmo", max_tokens=100)
    with pytest.warns(UserWarning, match="`max_tokens=100`"):
        outputs = layer(long_text(600))
    assert outputs.shape == (2, 100, 16)
    np.testing.assert_array_equal(tf.reduce_sum(tf.cast(outputs._keras_mask, "int32"), 1), [100, 1])
    # The end of sentence comes after the last token that is kept, not at the old end.
    np.testing.assert_allclose(outputs, layer(long_text(100)), atol=1e-6)


def test_max_tokens_is_silent_where_nothing_is_cut(tiny_bilm):
    layer = ELMoEmbedding(tiny_bilm, output="elmo", max_tokens=2)
    assert layer(TEXTS).shape == (2, 2, 16)
    assert layer(["a", ""]).shape == (2, 1, 16)


@pytest.mark.parametrize(("boundaries", "time"), [(False, 2), (True, 4)])
def test_max_tokens_narrows_padded_tokens(tiny_bilm, boundaries, time):
    layer = ELMoEmbedding(tiny_bilm, output="elmo", max_tokens=2, keep_boundaries=boundaries)
    tokens = tf.constant([["a", "b", "c"], ["a", "", ""]])
    symbolic = layer(keras.Input((3,), dtype="string"))
    with pytest.warns(UserWarning, match="max_tokens"):
        outputs = layer(tokens)
    assert outputs.shape == (2, time, 16) and symbolic.shape == (None, time, 16)
    np.testing.assert_array_equal(layer.compute_mask(tokens), outputs._keras_mask)


def test_in_a_graph_max_tokens_tells_stderr(tiny_bilm, capfd):
    layer = ELMoEmbedding(tiny_bilm, output="elmo", max_tokens=2)
    function = tf.function(layer.call, input_signature=[tf.TensorSpec([None], tf.string)])
    assert function(tf.constant(["a b"])).shape == (1, 2, 16)
    assert "max_tokens" not in capfd.readouterr().err
    assert function(tf.constant(["a b c d"])).shape == (1, 2, 16)
    assert "has more tokens than `max_tokens=2` allows" in capfd.readouterr().err
