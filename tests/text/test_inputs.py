"""One rule tells texts from tokens, whoever asks, by the input alone."""

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

from keras_elmo.text.inputs import are_tokens, read_tokens

ROWS = [["New York", "is"], ["no"], []]
PADDED = [["New York", "is"], ["no", ""], ["", ""]]


def column(rows):
    array = np.empty(len(rows), object)
    array[:] = rows
    return array


TOKENS = {
    "lists": ROWS,
    "tuples": tuple(map(tuple, ROWS)),
    "list of arrays": [np.array(row, object) for row in ROWS],
    "list of tensors": [tf.constant(row, tf.string) for row in ROWS],
    "object array of lists": column(ROWS),
    "series of lists": pd.Series(ROWS),
    "first row missing": [None, *ROWS],
    "ragged": tf.ragged.constant(ROWS),
    "padded array": np.array(PADDED),
    "padded object array": np.array(PADDED, object),
    "padded tensor": tf.constant(PADDED),
    "dict": {"tokens": tf.constant(PADDED), "sequence_len": [2, 1, 0]},
    "dict of one column": {"tokens": tf.constant([["New York"]])},
    "rows of one token": [["New York"], ["no"]],
}
TEXTS = {
    "list": ["a b", "c"],
    "empty list": [],
    "array": np.array(["a b", "c"]),
    "object array": np.array(["a b", "c"], object),
    "column": np.array([["a b"], ["c"]]),
    "series": pd.Series(["a b", "c"]),
    "frame": pd.DataFrame({"text": ["a b", "c"]}),
    "frame of two columns": pd.DataFrame({"label": ["x", "y"], "text": ["a b", "c"]}),
    "tensor": tf.constant(["a b", "c"]),
    "column tensor": tf.constant([["a b"], ["c"]]),
    "generator": (text for text in ["a b", "c"]),
}


@pytest.mark.parametrize("inputs", TOKENS.values(), ids=TOKENS)
def test_tokens_are_told_by_their_form(inputs):
    assert are_tokens(inputs)


@pytest.mark.parametrize("inputs", TEXTS.values(), ids=TEXTS)
def test_texts_are_told_by_their_form(inputs):
    assert not are_tokens(inputs)


def test_kind_decides_where_the_form_does_not():
    one_column = np.array([["ok lar"], ["no"]], object)
    assert are_tokens(one_column, "tokens")
    assert not are_tokens(one_column, "text")
    with pytest.raises(ValueError, match="With `inputs='text'` the layer takes"):
        are_tokens(ROWS, "text")
    with pytest.raises(ValueError, match="With `inputs='tokens'` the layer takes"):
        are_tokens(["a"], "tokens")


def test_every_container_of_tokens_is_read_alike():
    for name in ("lists", "object array of lists", "series of lists", "ragged", "dict"):
        batch = read_tokens(TOKENS[name])
        assert batch.tokens.to_list() == [[b"New York", b"is"], [b"no"], []], name
        assert int(batch.time) == 2
    assert read_tokens(np.array([["a", "", ""]])).time == 3


def test_texts_are_split():
    batch = read_tokens(["a b", "", "c"], "space", hold_tokens=False)
    assert batch.tokens.to_list() == [[b"a", b"b"], [], [b"c"]]
    assert int(batch.time) == 2
