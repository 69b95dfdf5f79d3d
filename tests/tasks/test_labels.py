import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

from keras_elmo.tasks.labels import Labels, label_list, readable_label_errors


@pytest.mark.parametrize(
    ("given", "classes", "kind"),
    [
        (["spam", "ham", "spam"], ("ham", "spam"), "U"),
        ((True, False, True), (False, True), "b"),
        (np.array([3, 1, 3]), (1, 3), "i"),
        (pd.Series([1.0, 0.0]), (0.0, 1.0), "f"),
        (pd.Series(["b", "a"], dtype="category"), ("a", "b"), "U"),
        (pd.Series(["b", "a"], dtype="string"), ("a", "b"), "U"),
        (pd.DataFrame({"label": ["b", "a"]}), ("a", "b"), "U"),
        (np.array([["b"], ["a"]]), ("a", "b"), "U"),
        (tf.constant(["é", "a"]), ("a", "é"), "U"),
        ([b"b", b"a"], ("a", "b"), "U"),
        (tf.constant([2, 1, 0]), (0, 1, 2), "i"),
    ],
)
def test_labels_come_back_in_the_users_kind(given, classes, kind):
    labels = Labels(given)
    assert labels.classes == classes
    decoded = labels.decode(labels.encode(given))
    assert decoded.dtype.kind == kind
    assert decoded.tolist() == label_list(given)


def test_class_numbers_follow_the_sorted_classes():
    numbers = Labels(["b", "c", "a"]).encode(["c", "a", "b", "c"])
    assert numbers.tolist() == [2, 0, 1, 2]
    assert numbers.dtype == np.int32


@pytest.mark.parametrize("given", [["ham", "ham"], []])
def test_one_class_or_none_is_an_error(given):
    with pytest.raises(ValueError, match="at least two classes"):
        Labels(given)


def test_strings_and_numbers_do_not_mix():
    with pytest.raises(ValueError, match="of one kind"):
        Labels(["spam", 1])


def test_unknown_label_is_named_with_its_row_and_the_known_ones():
    with pytest.raises(
        ValueError, match="label 'eggs', first in row 1. .*classes 'ham', 'spam'. Correct"
    ):
        Labels(["ham", "spam"]).encode(["ham", "eggs"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["a", None], "no label in row 1"),
        ([0.0, float("nan")], "no label in row 1"),
        (pd.Series(["a", pd.NA], dtype="string"), "no label in row 1"),
        ([0.5, 1.0], "whole. Received 0.5 in row 0"),
        ([[1, 0], [0, 1]], "one label a row"),
    ],
)
def test_bad_labels_are_value_errors(given, message):
    with pytest.raises(ValueError, match=message):
        label_list(given)


@pytest.mark.parametrize(
    ("given", "message"), [(None, "Received: None"), ([{}, {}], "Received in row 0: dict")]
)
def test_bad_labels_are_type_errors(given, message):
    with pytest.raises(TypeError, match=message):
        label_list(given)


@pytest.mark.parametrize(
    ("classes", "tensor", "numbers"),
    [
        (["ham", "spam"], ["spam", "ham"], [1, 0]),
        (["ham", "spam"], [["spam"], ["ham"]], [1, 0]),
        ([7, 3], [7, 3, 7], [1, 0, 1]),
        ([False, True], [True, False], [1, 0]),
    ],
)
def test_encode_tensor_equals_encode(classes, tensor, numbers):
    encode = tf.function(Labels(classes).encode_tensor)
    assert encode(tf.constant(tensor)).numpy().tolist() == numbers


def test_encode_tensor_names_an_unknown_label():
    encode = tf.function(Labels(["ham", "späm"]).encode_tensor)
    with pytest.raises(ValueError, match="unknown label 'éggs', first in row 1.*'ham', 'späm'. C"):
        with readable_label_errors():
            encode(tf.constant(["ham", "éggs"]))


def test_other_tensorflow_errors_stay_what_they_are():
    with pytest.raises(tf.errors.InvalidArgumentError, match="something else"):
        with readable_label_errors():
            tf.debugging.Assert(False, ["something else"])


def test_class_weights_are_keyed_by_label():
    labels = Labels(["spam", "ham"])
    assert labels.encode_weights({"spam": 4.0, "ham": 1.0}) == {1: 4.0, 0: 1.0}
    with pytest.raises(ValueError, match="`class_weight`: unknown label 'eggs'"):
        labels.encode_weights({"eggs": 1.0})


def test_a_label_that_numpy_would_cut_is_refused():
    with pytest.raises(ValueError, match=r"end in NUL.* Received in row 1: 'b\\x00'"):
        label_list(["a", "b\0"])
