import numpy as np
import tensorflow as tf

from keras_elmo.text.characters import (
    BOS_ID,
    BOW_ID,
    EOS_ID,
    EOW_ID,
    PAD_ID,
    boundary_char_ids,
    word_char_ids,
)


def spelled(word, size=50):
    """The published rule, one word at a time, in Python."""
    ids = [BOW_ID, *word[: size - 2], EOW_ID]
    return [i + 1 for i in ids + [PAD_ID] * (size - len(ids))]


def test_word_by_hand():
    ids = word_char_ids(tf.constant(["ok"]), 6).numpy()
    assert ids.tolist() == [[259, 112, 108, 260, 261, 261]]
    assert ids.dtype == np.int32


def test_published_rule_on_awkward_words():
    words = [b"", b"a", b"a\x00b", b"\x00", b"x" * 47, b"x" * 48, b"x" * 49, b"x" * 60]
    words += ["한국어".encode() * 9, "é".encode() * 25, b"\xff\xfe", b"<S>"]
    assert word_char_ids(tf.constant(words)).numpy().tolist() == [spelled(word) for word in words]


def test_any_shape_and_no_words():
    words = tf.constant([["a", "b"], ["c", ""]])
    assert word_char_ids(words).shape == (2, 2, 50)
    assert word_char_ids(tf.constant([], tf.string)).shape == (0, 50)


def test_in_graph_equals_eager():
    words = tf.constant(["see", "you", "한국어"])
    in_graph = tf.function(word_char_ids)(words)
    np.testing.assert_array_equal(in_graph, word_char_ids(words))


def test_boundaries():
    ids = boundary_char_ids(5)
    assert ids.tolist() == [
        [BOW_ID + 1, BOS_ID + 1, EOW_ID + 1, PAD_ID + 1, PAD_ID + 1],
        [BOW_ID + 1, EOS_ID + 1, EOW_ID + 1, PAD_ID + 1, PAD_ID + 1],
    ]


def test_u07_long_tokens_are_cut_to_48_bytes():
    words = [b"x" * 48, b"x" * 49, b"x" * 60, b"x" * 48 + b"y" * 12]
    ids = word_char_ids(tf.constant(words)).numpy()
    assert (ids == ids[0]).all()
    assert ids[0, 49] == EOW_ID + 1
