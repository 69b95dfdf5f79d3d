import gc

import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.text.vocabulary import Vocabulary

MARKS = ("<S>", "</S>", "<UNK>")


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


@pytest.fixture
def vocabulary():
    return Vocabulary(["<S>", "</S>", "<UNK>", "the", "cat", "café"])


def test_ids_are_the_places_in_the_list(vocabulary):
    ids = vocabulary.ids(tf.constant([["cat", "the"], ["café", "dog"]]))
    assert ids.dtype == tf.int32
    assert ids.numpy().tolist() == [[4, 3], [5, 2]]


def test_marks_may_stand_anywhere():
    vocabulary = Vocabulary(["the", "<UNK>", "</S>", "cat", "<S>"])
    assert (vocabulary.bos_id, vocabulary.eos_id, vocabulary.unk_id) == (4, 2, 1)
    assert vocabulary.ids(["the", "cat", "dog"]).numpy().tolist() == [0, 3, 1]


def test_text_spelt_like_a_mark_is_an_unknown_word(vocabulary):
    assert vocabulary.ids(list(MARKS)).numpy().tolist() == [2, 2, 2]


def test_words_len_and_contains(vocabulary):
    assert vocabulary.words[3:] == ("the", "cat", "café")
    assert len(vocabulary) == 6
    assert "cat" in vocabulary and "<S>" in vocabulary and "dog" not in vocabulary
    assert repr(vocabulary) == "<Vocabulary of 6 words>"


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (1, 2, 3)])
def test_ids_keep_the_shape(vocabulary, shape):
    assert vocabulary.ids(tf.fill(shape, "cat")).shape == shape


def test_ids_of_a_ragged_tensor(vocabulary):
    ids = vocabulary.ids(tf.ragged.constant([["cat"], [], ["a", "the"]]))
    assert ids.to_list() == [[4], [], [2, 3]]


def test_ids_first_called_in_a_graph_work_in_every_later_one(vocabulary):
    @tf.function
    def first(tokens):
        return vocabulary.ids(tokens)

    words = tf.constant(["cat", "dog"])
    assert first(words).numpy().tolist() == [4, 2]
    assert tf.function(vocabulary.ids)(words).numpy().tolist() == [4, 2]
    assert vocabulary.ids(words).numpy().tolist() == [4, 2]
    mapped = tf.data.Dataset.from_tensors(words).map(vocabulary.ids)
    assert next(iter(mapped)).numpy().tolist() == [4, 2]


def test_a_graph_keeps_the_words_alive():
    spec = tf.TensorSpec([None], tf.string)
    vocabulary = Vocabulary.build({"cat": 1})
    function = tf.function(vocabulary.ids).get_concrete_function(spec)
    del vocabulary
    gc.collect()
    assert function(tf.constant(["cat", "dog"])).numpy().tolist() == [3, 2]


def test_ids_of_numbers_are_an_error(vocabulary):
    with pytest.raises(TypeError, match=r"`tokens` must be a string tensor. Received: dtype=int32"):
        vocabulary.ids(tf.constant([[1, 2]]))


def test_build_orders_by_falling_count_then_by_word():
    counts = {"b": 2, "c": 5, "a": 2, "rare": 1}
    assert Vocabulary.build(counts).words == (*MARKS, "c", "a", "b", "rare")


def test_build_limits():
    counts = {"b": 2, "c": 5, "a": 2, "rare": 1}
    assert Vocabulary.build(counts, max_size=2).words == (*MARKS, "c", "a")
    assert Vocabulary.build(counts, max_size=0).words == MARKS
    assert Vocabulary.build(counts, min_count=2).words == (*MARKS, "c", "a", "b")
    with pytest.raises(ValueError, match="`max_size` must be at least 0.*Received: -1"):
        Vocabulary.build(counts, max_size=-1)


def test_build_leaves_out_marks_and_words_with_line_breaks():
    assert Vocabulary.build({"<S>": 9, "a\rb": 3, "a\nb": 3, "x": 1}).words == (*MARKS, "x")


def test_write_then_read_gives_the_same_words(tmp_path):
    words = (
        *MARKS,
        "naïve",
        "한국어",
        "\u2028",
        "\xa0",
        "\t",
        "\x85",
        "a b",
        " x",
        "\x0b",
        "\x00",
        "\ufeff",
    )
    vocabulary = Vocabulary(words)
    vocabulary.write(tmp_path / "vocab.txt")
    read = Vocabulary.read(tmp_path / "vocab.txt")
    assert read.words == words
    assert read.ids(list(words[3:])).numpy().tolist() == list(range(3, len(words)))


def test_write_ends_lines_with_line_feeds(tmp_path):
    Vocabulary(MARKS).write(str(tmp_path / "vocab.txt"))
    assert (tmp_path / "vocab.txt").read_bytes() == b"<S>\n</S>\n<UNK>\n"


def test_read_accepts_a_byte_order_mark_and_no_last_line_end(tmp_path):
    path = write(tmp_path / "v", b"\xef\xbb\xbf<S>\n</S>\n<UNK>\nthe")
    assert Vocabulary.read(path).words == (*MARKS, "the")


def test_u31_read_names_the_missing_marks_and_how_to_build_the_file(tmp_path):
    path = write(tmp_path / "v", "<S>\nthe\n")
    with pytest.raises(ValueError, match=r"Missing from .*v: </S>, <UNK>. Write each") as error:
        Vocabulary.read(path)
    assert "Vocabulary.build(counts).write(path)" in str(error.value)
    assert "\n" not in str(error.value)


def test_u31_read_names_both_lines_of_a_word_that_stands_twice(tmp_path):
    path = write(tmp_path / "v", "<S>\n</S>\n<UNK>\nthe\ncat\nthe\n")
    with pytest.raises(ValueError, match=r"Received: 'the' at line 4 and line 6 in .*v"):
        Vocabulary.read(path)


def test_u31_windows_line_ends_are_accepted(tmp_path):
    path = write(tmp_path / "v", "<S>\r\n</S>\r\n<UNK>\r\nthe\r\ncat\r\n")
    assert Vocabulary.read(path).words == (*MARKS, "the", "cat")


def zipf_counts(size=1000, seed=0):
    """Counts of a text of about 100,000 words with their noise, the most frequent word first."""
    counts = np.random.default_rng(seed).poisson(13_000 / np.arange(1, size + 1))
    # Spelt so that the alphabet knows nothing of the frequency.
    return {f"{(i + 500) * 7919 % 10_007}": int(n) for i, n in enumerate(counts) if n}


def test_u31_words_that_are_not_by_falling_frequency_are_found():
    counts = {"a": 1, "b": 2, "c": 7, "zebra": 0}
    vocabulary = Vocabulary([*MARKS, "unseen", "a", "b", "c"])
    assert vocabulary.out_of_order(counts) == (
        "the first 1 of the 3 vocabulary words that occur should be the most frequent ones, "
        "which cover 70% of the occurrences; they cover 10%"
    )
    assert Vocabulary([*MARKS, "unseen", "c", "a", "b"]).out_of_order(counts) is None


@pytest.mark.parametrize("order", [sorted, lambda words: list(words)[::-1]])
def test_alphabetical_and_rising_order_are_found(order):
    counts = zipf_counts()
    assert "should be the most frequent" in Vocabulary([*order(counts), *MARKS]).out_of_order(
        counts
    )


def test_order_of_another_text_and_extra_words_in_front_are_no_fault():
    other = Vocabulary.build(zipf_counts(seed=1))
    assert other.out_of_order(zipf_counts()) is None
    small = {word: n // 100 for word, n in zipf_counts().items() if n >= 100}
    assert other.out_of_order(small) is None
    assert Vocabulary(["new", "newer", *other.words[:400]]).out_of_order(zipf_counts()) is None


@pytest.mark.parametrize(
    "counts", [{}, {"x": 3}, {"a": 0}, {"a": 2, "b": 2, "c": 2}, {"<S>": 90, "a": 2, "b": 1}]
)
def test_ties_marks_and_words_that_do_not_occur_are_no_fault(counts):
    assert Vocabulary(["a", "b", "c", *MARKS]).out_of_order(counts) is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("<S>\n</S>\n\n<UNK>\n", "must not be blank.*line 3 of"),
        ("<S>\n</S>\n  \n<UNK>\n", "must not be blank.*line 3 of"),
        (b"<S>\n</S>\n<UNK>\ncaf\xe9\n", "line 4: text must be UTF-8. Received byte 0xe9"),
        (b"<S>\n</S>\n<UNK>\na\rb\n", "must stand on one line.*line 4 of"),
    ],
)
def test_read_refuses_with_the_line(tmp_path, content, message):
    with pytest.raises(ValueError, match=message):
        Vocabulary.read(write(tmp_path / "v", content))


def test_read_of_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="none.txt"):
        Vocabulary.read(tmp_path / "none.txt")


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ([*MARKS, 3], TypeError, r"must be a str. Received: 3 at `words\[3\]`"),
        ([*MARKS, b"a"], TypeError, "must be a str"),
        ("<S>", TypeError, "must be an iterable of str"),
        ([*MARKS, ""], ValueError, "must not be blank"),
        ([*MARKS, "a\nb"], ValueError, "must stand on one line"),
        ([*MARKS, "\ud800"], ValueError, "lone surrogate"),
        ([*MARKS, "a", "a"], ValueError, r"'a' at `words\[3\]` and `words\[4\]`"),
        (["<S>"], ValueError, "Missing from `words`: </S>, <UNK>"),
    ],
)
def test_constructor_refuses(words, error, message):
    with pytest.raises(error, match=message):
        Vocabulary(words)
