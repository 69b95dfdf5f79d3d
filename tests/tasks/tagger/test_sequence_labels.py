import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

from keras_elmo.tasks.labels import Labels
from keras_elmo.tasks.tagger.sequence_labels import encode_labels, read_labels
from keras_elmo.text.tokens import as_tokens

TOKENS = [["a", "b", "c"], [], ["d"]]
LABELS = [["X", "Y", "X"], [], ["Y"]]
PADDED = [["X", "Y", "X"], ["?", "?", "?"], ["Y", "", "?"]]


@pytest.fixture
def tokens():
    return as_tokens(TOKENS)


@pytest.mark.parametrize(
    "labels",
    [
        LABELS,
        tuple(map(tuple, LABELS)),
        [np.array(row, object) for row in LABELS],
        pd.Series(LABELS),
        np.array([*LABELS, None], object)[:3],
        tf.ragged.constant(LABELS),
        np.array(PADDED),
        np.array([[*row, None] for row in PADDED], object),
        tf.constant(PADDED),
        pd.DataFrame(PADDED).to_numpy(),
    ],
)
def test_labels_in_every_container(labels, tokens):
    assert read_labels(labels, tokens) == LABELS


def test_numbers_and_bools_are_labels(tokens):
    assert read_labels(np.array([[1, 0, 1], [9, 9, 9], [0, 9, 9]]), tokens) == [[1, 0, 1], [], [0]]
    assert read_labels([[True, False, True], [], [False]], tokens)[2] == [False]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (LABELS[:2], "one row for each of the 3 sentences. Received: 2 rows"),
        ([["X", "Y"], [], ["Y"]], "Received in row 0: 2 labels for 3 tokens"),
        ([*LABELS[:2], ["Y", "Y"]], "Received in row 2: 2 labels for 1 tokens"),
        (np.array([["X", "Y"]] * 3), "Received in row 0: 2 labels for 3 tokens"),
        ([["X", None, "X"], [], ["Y"]], "no missing entries. Received: None in row 0, position 1"),
        ([*LABELS[:2], [float("nan")]], "no missing entries. Received: nan in row 2, position 0"),
        ([*LABELS[:2], [0.5]], r"`labels\[2\]` must hold classes, and numbers must be whole"),
    ],
)
def test_labels_that_do_not_fit_raise(labels, message, tokens):
    with pytest.raises(ValueError, match=message):
        read_labels(labels, tokens)


@pytest.mark.parametrize("labels", [None, 3, "XYX", {"a": 1}, ["XYX", "", "Y"], [1, 0, 1]])
def test_what_is_no_row_raises(labels, tokens):
    with pytest.raises(TypeError, match="`labels` must hold one list of labels a sentence"):
        read_labels(labels, tokens)


def test_class_numbers_by_hand():
    numbers = encode_labels(Labels(["Y", "X"]), LABELS)
    assert numbers.to_list() == [[0, 1, 0], [], [1]]
    assert numbers.dtype == tf.int32
    assert encode_labels(Labels(["Y", "X"]), [[], []]).to_list() == [[], []]


def test_unknown_label_is_named():
    message = "the classes that the model knows: 'X', 'Y'. Received: 'Z' in row 2, position 0"
    with pytest.raises(ValueError, match=message):
        encode_labels(Labels(["Y", "X"]), [["X"], [], ["Z"]])
