import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

from keras_elmo.text.tokens import as_tokens

EXPECTED = [[b"I", b"agree"], [b"no"], []]
PADDED = [["I", "agree", ""], ["no", "", ""], ["", "", ""]]
LENGTHS = [2, 1, 0]


def rows(*values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


WITHOUT_LENGTHS = {
    "list of lists": [["I", "agree"], ["no"], []],
    "tuple of tuples": (("I", "agree"), ("no",), ()),
    "bytes": [[b"I", b"agree"], [b"no"], []],
    "generator": (row for row in (["I", "agree"], ["no"], [])),
    "list of arrays": [np.array(["I", "agree"]), np.array(["no"]), np.array([], dtype=object)],
    "list of tensors": [
        tf.constant(["I", "agree"]),
        tf.constant(["no"]),
        tf.constant([], tf.string),
    ],
    "1-D array of lists": rows(["I", "agree"], ["no"], []),
    "Series of lists": pd.Series([["I", "agree"], ["no"], []], index=[5, 5, 2]),
    "ragged tensor": tf.ragged.constant([["I", "agree"], ["no"], []]),
    "padded lists": PADDED,
    "padded U array": np.array(PADDED),
    "padded object array": np.array(PADDED, dtype=object),
    "padded frame": pd.DataFrame(PADDED),
    "padded tensor": tf.constant(PADDED),
    "padded ragged tensor": tf.RaggedTensor.from_tensor(tf.constant(PADDED)),
}


@pytest.mark.parametrize("x", WITHOUT_LENGTHS.values(), ids=WITHOUT_LENGTHS.keys())
def test_u11_every_container_gives_the_same_rows(x):
    tokens = as_tokens(x)
    assert isinstance(tokens, tf.RaggedTensor)
    assert tokens.dtype == tf.string
    assert tokens.shape.as_list() == [3, None]
    assert tokens.to_list() == EXPECTED


def test_u11_a_token_is_taken_as_it_is():
    assert as_tokens([["New York", "is", "big"]]).to_list() == [[b"New York", b"is", b"big"]]


def test_u11_sequence_len_cuts_rows():
    ragged = tf.RaggedTensor.from_tensor(tf.constant(PADDED))
    for x in (PADDED, np.array(PADDED), tf.constant(PADDED), ragged):
        assert as_tokens(x, LENGTHS).to_list() == EXPECTED
    for kind in (lambda n: np.array(n, np.int8), tf.constant, pd.Series):
        assert as_tokens(PADDED, kind(LENGTHS)).to_list() == EXPECTED


@pytest.mark.parametrize("make", [list, np.array, tf.constant])
def test_sequence_len_keeps_empty_tokens_within_it(make):
    x = make([["a", "", "b", ""], ["", "", "c", "d"]])
    assert as_tokens(x, [4, 2]).to_list() == [[b"a", b"", b"b", b""], [b"", b""]]


@pytest.mark.parametrize("row", [["", "", "a", "b"], ["a", "", "b", ""]])
@pytest.mark.parametrize("make", [np.array, tf.constant, tf.ragged.constant])
def test_padding_before_a_token_is_an_error(row, make):
    """Keras' pad_sequences pads at the front by default."""
    x = make([["c", "", "", ""], row])
    with pytest.raises(ValueError, match="padding .* after the last token.*in row 1"):
        as_tokens(x)
    if make is tf.constant:
        with pytest.raises(tf.errors.InvalidArgumentError, match="after the last token"):
            tf.function(as_tokens)(x)


def test_sequence_len_of_lists_of_unequal_length():
    assert as_tokens([["a", "b"], ["c"], []], [1, 1, 0]).to_list() == [[b"a"], [b"c"], []]
    with pytest.raises(ValueError, match="Received: 2 for row 1, which has 1"):
        as_tokens([["a", "b"], ["c"]], [2, 2])


@pytest.mark.parametrize(
    "x", [[], [[]], np.empty((0, 3), object), tf.zeros((0, 3), tf.string), tf.fill((2, 0), "")]
)
def test_no_token(x):
    tokens = as_tokens(x)
    assert tokens.to_list() == [[]] * len(x)
    assert tokens.dtype == tf.string
    assert as_tokens(x, [0] * len(x)).to_list() == [[]] * len(x)


def test_nul_characters_and_surrogates():
    assert as_tokens([["a\x00", "\ud83db"]]).to_list() == [[b"a\x00", b"b"]]


@pytest.mark.parametrize("shape", [(None, None), (3, 3), (None, 3)])
def test_in_a_graph(shape):
    spec = tf.TensorSpec(shape, tf.string)
    function = tf.function(as_tokens, input_signature=[spec])
    assert function(tf.constant(PADDED)).to_list() == EXPECTED
    signature = [spec, tf.TensorSpec(shape[:1], tf.int32)]
    function = tf.function(as_tokens, input_signature=signature)
    assert function(tf.constant(PADDED), tf.constant(LENGTHS)).to_list() == EXPECTED


def test_ragged_in_a_dataset():
    ragged = tf.ragged.constant([["I", "agree"], ["no", ""], []])
    assert next(iter(tf.data.Dataset.from_tensors(ragged).map(as_tokens))).to_list() == EXPECTED


@pytest.mark.parametrize("row_splits", [tf.int32, tf.int64])
def test_ragged_with_either_row_splits(row_splits):
    ragged = tf.ragged.constant([["I", "agree"], ["no", ""], []], row_splits_dtype=row_splits)
    assert as_tokens(ragged).to_list() == EXPECTED
    assert as_tokens(ragged, [2, 1, 0]).to_list() == EXPECTED


# errors


@pytest.mark.parametrize(
    "x", [["I agree", "no"], rows("I agree"), pd.Series(["I agree"]), [tf.constant("I agree")]]
)
def test_sentences_are_an_error_that_says_so(x):
    with pytest.raises(
        TypeError, match="I agree.* at row 0, which looks like a sentence.*`as_text`"
    ):
        as_tokens(x)


@pytest.mark.parametrize("x", ["I agree", b"I agree", {"a": ["b"]}])
def test_text_or_dict_is_an_error(x):
    with pytest.raises(TypeError, match="one list of tokens a sentence.*list of lists"):
        as_tokens(x)


@pytest.mark.parametrize(
    ("x", "received"),
    [
        (tf.constant([[1, 2]]), r"Received: dtype=int32, shape=\(1, 2\)"),
        (tf.ragged.constant([[1], []]), r"Received: dtype=int32, shape=\(2, None\)"),
        (np.array([[1, 2]]), "Received: 1 of type int at row 0, position 0"),
        ([["a"], [], ["b", 2]], "Received: 2 of type int at row 2, position 1"),
        ([["a"], [["b"]]], r"Received: \['b'\] of type list at row 1, position 0"),
        ([3], "Received: 3 of type int at row 0"),
        ([{"a": 1}], "of type dict at row 0"),
        ([np.array([["a"]])], "of type ndarray at row 0"),
    ],
)
def test_anything_but_tokens_is_an_error(x, received):
    with pytest.raises(TypeError, match=rf"{received}.*Split raw sentences into tokens first\."):
        as_tokens(x)


def test_no_container_is_an_error():
    with pytest.raises(TypeError, match="Received: 3 of type int"):
        as_tokens(3)


@pytest.mark.parametrize(
    "x",
    [
        tf.constant(["a"]),
        tf.constant([[["a"]]]),
        np.array([[["a"]]]),
        tf.ragged.constant([[["a"]]]),
    ],
)
def test_another_rank_is_an_error(x):
    with pytest.raises(ValueError, match=r"shape \(batch, time\). Received: dtype=.*, shape=\(1"):
        as_tokens(x)


@pytest.mark.parametrize("empty", ["", b""])
def test_empty_token_in_a_list_is_an_error_that_names_the_place(empty):
    with pytest.raises(ValueError, match="an empty token.* at row 1, position 1.*`sequence_len`"):
        as_tokens([["a"], ["b", empty, "c", ""]])


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_missing_rows_and_tokens_are_an_error(missing):
    with pytest.raises(ValueError, match="no missing rows. Received: .* at row 1"):
        as_tokens([["a"], missing])
    with pytest.raises(ValueError, match="1 missing of 3, at row 1, position 1 "):
        as_tokens([["a"], ["b", missing]])


@pytest.mark.parametrize(
    ("lengths", "error", "message"),
    [
        ([1.0, 1.0], TypeError, "must hold integers.*dtype=float64"),
        (tf.constant([1.0, 1.0]), TypeError, "must hold integers.*dtype=float32"),
        ([True, False], TypeError, "must hold integers.*dtype=bool"),
        (["1", "1"], TypeError, "must hold integers"),
        ([1], ValueError, r"one entry a row, shape \(2,\). Received: shape=\(1,\)"),
        (2, ValueError, r"Received: shape=\(\)"),
        ([[1], [1]], ValueError, r"Received: shape=\(2, 1\)"),
        ([1, 3], ValueError, "between 0 and the row's width. Received: 3 for row 1, which has 2"),
        ([-1, 1], ValueError, "Received: -1 for row 0"),
    ],
)
@pytest.mark.parametrize("x", [[["a", "b"], ["c", "d"]], tf.constant([["a", "b"], ["c", "d"]])])
def test_wrong_sequence_len_is_an_error(x, lengths, error, message):
    with pytest.raises(error, match=message):
        as_tokens(x, lengths)


@pytest.mark.parametrize("lengths", [[3, 1], [-1, 1], [1]])
def test_wrong_sequence_len_in_a_graph_is_an_error_when_it_runs(lengths):
    signature = [tf.TensorSpec([None, None], tf.string), tf.TensorSpec([None], tf.int32)]
    function = tf.function(as_tokens, input_signature=signature)
    with pytest.raises(tf.errors.InvalidArgumentError):
        function(tf.constant([["a", "b"], ["c", "d"]]), tf.constant(lengths))
