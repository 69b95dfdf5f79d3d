import decimal

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

from keras_elmo.text.containers import as_text

TEXTS = ["I agree", "no", "", "한국어 문장"]
UTF8 = [text.encode("utf-8") for text in TEXTS]


def objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


CONTAINERS = {
    "list": TEXTS,
    "tuple": tuple(TEXTS),
    "list of bytes": UTF8,
    "generator": (text for text in TEXTS),
    "dict values": dict(enumerate(TEXTS)).values(),
    "object array": objects(TEXTS),
    "object array of bytes": objects(UTF8),
    "U array": np.array(TEXTS),
    "U array (4, 1)": np.array(TEXTS)[:, None],
    "S array": np.array(UTF8),
    "Series of object": pd.Series(TEXTS, dtype=object),
    "Series of string": pd.Series(TEXTS, dtype="string"),
    "Series by default": pd.Series(TEXTS, index=[7, 3, 3, 1]),
    "Series of category": pd.Series(TEXTS, dtype="category"),
    "Series of bytes": pd.Series(UTF8),
    "Index": pd.Index(TEXTS),
    "DataFrame": pd.DataFrame({"v2": TEXTS}),
    "string tensor": tf.constant(TEXTS),
    "string tensor (4, 1)": tf.constant(TEXTS)[:, None],
    "string variable": tf.Variable(TEXTS),
    "list of scalar tensors": list(tf.constant(TEXTS)),
}


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS.keys())
def test_u09_every_container_gives_the_same_tensor(container):
    texts = as_text(container)
    assert texts.dtype == tf.string
    assert texts.shape == (4,)
    assert texts.numpy().tolist() == UTF8


class Column:
    """The least that a column of another library offers."""

    def __iter__(self):
        return iter(TEXTS)


class Frame:
    columns = ("v2",)

    def __getitem__(self, name):
        return {"v2": Column()}[name]


class ArrowTable:
    columns = (object(),)
    column_names = ("v2",)

    def __getitem__(self, name):
        return {"v2": ArrowColumn()}[name]


class ArrowColumn:
    def to_pylist(self):
        return TEXTS


@pytest.mark.parametrize("container", [Column(), Frame(), ArrowTable()])
def test_columns_and_frames_of_other_libraries(container):
    assert as_text(container).numpy().tolist() == UTF8


@pytest.mark.parametrize(
    "container",
    [[], (), np.array([], dtype=object), np.array([], dtype="U"), pd.Series([], dtype="str")],
)
def test_no_text_gives_an_empty_tensor(container):
    texts = as_text(container)
    assert texts.shape == (0,)
    assert texts.dtype == tf.string


def test_nul_characters_survive():
    nul = ["a\x00b", "a\x00", "\x00", ""]
    expected = [b"a\x00b", b"a\x00", b"\x00", b""]
    assert as_text(nul).numpy().tolist() == expected
    assert as_text(objects(nul)).numpy().tolist() == expected
    assert tf.function(lambda: as_text(nul))().numpy().tolist() == expected
    assert as_text(np.array([b"a\x00b"])).numpy().tolist() == [b"a\x00b"]


def test_spaces_at_the_ends_survive_and_lone_surrogates_are_left_out():
    assert as_text(np.array(["  a ", "\t\n"])).numpy().tolist() == [b"  a ", b"\t\n"]
    assert as_text(["a\ud83db", "\ude00"]).numpy().tolist() == [b"ab", b""]


def test_in_a_graph():
    function = tf.function(as_text, input_signature=[tf.TensorSpec([None, 1], tf.string)])
    assert function(tf.constant([["a"], ["b"]])).numpy().tolist() == [b"a", b"b"]


# missing texts


MISSING = {
    "list of None": ["a", None, "b", float("nan")],
    "list of NA": ["a", pd.NA, "b", pd.NaT],
    "numpy NaN and NaT": ["a", np.float32("nan"), "b", np.datetime64("NaT", "s")],
    "decimal": ["a", decimal.Decimal("nan"), "b", None],
    "object array": objects(["a", None, "b", np.nan]),
    "masked array": np.ma.masked_array(["a", "?", "b", "?"], mask=[0, 1, 0, 1]),
    "Series of object": pd.Series(["a", None, "b", np.nan], dtype=object),
    "Series of string": pd.Series(["a", None, "b", None], dtype="string"),
    "Series of str": pd.Series(["a", None, "b", None], dtype="str"),
    "Series of category": pd.Series(["a", None, "b", None], dtype="category"),
    "DataFrame": pd.DataFrame({"v2": ["a", None, "b", None]}),
}


@pytest.mark.parametrize("container", MISSING.values(), ids=MISSING.keys())
def test_missing_texts_are_an_error_that_names_the_positions_or_empty_on_request(container):
    with pytest.raises(
        ValueError, match="2 missing of 4, at position 1, position 3 .counted from 0"
    ):
        as_text(container)
    assert as_text(container, missing="empty").numpy().tolist() == [b"a", b"", b"b", b""]


def test_ten_positions_are_named_at_most():
    with pytest.raises(ValueError, match=r"25 missing of 25.*position 9, \.\.\. ") as error:
        as_text([None] * 25)
    assert "position 10" not in str(error.value)


def test_unknown_value_of_missing_is_an_error():
    with pytest.raises(
        ValueError, match='`missing` must be "error" or "empty". Received: \'drop\''
    ):
        as_text(["a"], missing="drop")


# what is not text


@pytest.mark.parametrize(
    ("container", "received"),
    [
        (["a", 3.5], "Received: 3.5 of type float at position 1"),
        (["a", None, 3], "Received: 3 of type int at position 2"),
        (["a", True], "Received: True of type bool at position 1"),
        (np.array([3.5, 1.0]), "Received: 3.5 of type float at position 0"),
        (np.array([1]), "Received: 1 of type int"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "of type datetime64 at position 0"),
        (pd.Series(["a", 3.5]), "Received: 3.5 of type float at position 1"),
        (pd.Series([1, 2]), "of type int at position 0"),
        (pd.Series([np.nan, 2.0]), "Received: 2.0 of type float at position 1"),
        (pd.DataFrame({"v2": [1]}), "at position 0"),
        ([["I", "agree"]], r"Received: \['I', 'agree'\] of type list at position 0.*`as_tokens`"),
        ([tf.constant(3)], "at position 0"),
    ],
)
def test_anything_but_strings_is_an_error_that_names_the_position(container, received):
    for missing in ("error", "empty"):
        with pytest.raises(TypeError, match=received):
            as_text(container, missing=missing)


@pytest.mark.parametrize("text", ["I agree", b"I agree", np.str_("I agree")])
def test_a_single_text_is_an_error_that_says_to_put_it_in_a_list(text):
    with pytest.raises(TypeError, match=r"the single text .*I agree.*Put it in a list: \[text\]"):
        as_text(text)


@pytest.mark.parametrize("x", [3, None, object()])
def test_no_container_is_an_error(x):
    with pytest.raises(TypeError, match="`x` must be a container of texts"):
        as_text(x)


@pytest.mark.parametrize("x", [{"a": "b"}, {"a", "b"}])
def test_dict_and_set_are_an_error(x):
    with pytest.raises(
        TypeError, match="must be an ordered container of texts. Received: (dict|set)"
    ):
        as_text(x)


def test_frame_of_several_columns_is_an_error_that_names_them():
    with pytest.raises(ValueError, match=r"2 columns, 'v1', 'v2'. Pick one: frame\[name\]"):
        as_text(pd.DataFrame({"v1": ["ham"], "v2": ["hi"]}))
    with pytest.raises(ValueError, match="0 columns"):
        as_text(pd.DataFrame())


@pytest.mark.parametrize(
    "x",
    [
        np.array([["a", "b"]]),
        np.array([[["a"]]]),
        np.array("a"),
        tf.constant("a"),
        tf.constant([["a", "b"]]),
        tf.constant([[["a"]]]),
    ],
)
def test_another_shape_is_an_error_that_names_it(x):
    with pytest.raises(ValueError, match=r"shape \(n,\) or \(n, 1\)") as error:
        as_text(x)
    assert f"Received: shape={x.shape}" in str(error.value)


def test_tensor_of_numbers_is_an_error():
    with pytest.raises(TypeError, match=r"Received: dtype=int32, shape=\(2,\)"):
        as_text(tf.constant([1, 2]))


@pytest.mark.parametrize("x", [tf.ragged.constant([["a"]]), tf.sparse.from_dense([["a"]])])
def test_ragged_and_sparse_tensors_are_an_error_that_names_as_tokens(x):
    with pytest.raises(TypeError, match="`as_tokens`"):
        as_text(x)


# datasets


LABELS = [1, 0, 0, 1]


def dataset(*parts):
    return tf.data.Dataset.from_tensor_slices(parts if len(parts) > 1 else parts[0])


def column():
    return tf.constant(TEXTS)[:, None]


def test_u09_dataset_of_single_texts_stays_unbatched():
    texts = as_text(dataset(TEXTS))
    assert texts.element_spec == tf.TensorSpec((), tf.string)
    assert [text.numpy() for text in texts] == UTF8


@pytest.mark.parametrize("texts", [TEXTS, column()], ids=["(4,)", "(4, 1)"])
@pytest.mark.parametrize("rest", [(), (LABELS,), (LABELS, [0.5] * 4)], ids=["x", "x, y", "x, y, w"])
def test_u09_dataset_of_batches_has_flat_texts_and_untouched_labels(texts, rest):
    batches = as_text(dataset(texts, *rest).batch(3))
    got = [batch if isinstance(batch, tuple) else (batch,) for batch in batches]
    assert [part[0].shape.as_list() for part in got] == [[3], [1]]
    assert np.concatenate([part[0] for part in got]).tolist() == UTF8
    assert [len(part) for part in got] == [1 + len(rest)] * 2
    for index, values in enumerate(rest, start=1):
        assert np.concatenate([part[index] for part in got]).tolist() == values


def test_dataset_of_anything_else_is_an_error():
    for wrong in [dataset([1, 2]), dataset({"a": TEXTS}), dataset(tf.ragged.constant([["a"]]))]:
        with pytest.raises(TypeError, match="must be a dataset of texts, or of .text, label"):
            as_text(wrong)
    with pytest.raises(ValueError, match=r"Received: shape=\(None, 2\)"):
        as_text(dataset([["a", "b"]]).batch(2))
