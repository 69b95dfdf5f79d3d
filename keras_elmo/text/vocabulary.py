"""The words a biLM is trained to predict, one a line in a file."""

import os
from collections.abc import Iterable, Mapping

import tensorflow as tf

from keras_elmo.basics.files import whole_file
from keras_elmo.basics.text_files import lines_of

BOS = "<S>"
EOS = "</S>"
UNK = "<UNK>"
SPECIALS = (BOS, EOS, UNK)
ENOUGH_OF_POSSIBLE_SHARE = 0.5

_HOW_TO_BUILD = (
    "Write each of them on a line of its own, first in the file, followed by the corpus' words in "
    "falling frequency; or have one built from the corpus (`keras_elmo-train bilm` without "
    "`--vocabulary`, `Vocabulary.build(counts).write(path)`)."
)


class Vocabulary:
    """A fixed list of words: `id(word)` = its place in the list, from 0.

    Three entries are marks, not words: `<S>` (sentence start), `</S>` (sentence end) and `<UNK>`
    (any word that is not listed). They may stand anywhere in the list. A text that happens to hold
    one of these spellings is text, so looking it up gives `unk_id`.

    Args:
        words: in id order, the three marks among them. A word is not empty, occurs once, and holds
            no line break. Kept as a tuple.

    Attributes:
        bos_id, eos_id, unk_id: ids of `<S>`, `</S>` and `<UNK>`.

    Raises:
        TypeError: if a word is not a str.
        ValueError: if a mark is missing, or a word is empty, repeated, or cannot be written on one
            line of UTF-8.

    Example:

    >>> vocabulary = Vocabulary.build({"the": 7, "cat": 2})
    >>> vocabulary.words
    ('<S>', '</S>', '<UNK>', 'the', 'cat')
    >>> vocabulary.ids(tf.constant(["cat", "dog"])).numpy().tolist()
    [4, 2]
    """

    BOS = BOS
    EOS = EOS
    UNK = UNK

    def __init__(self, words: Iterable[str]):
        if isinstance(words, (str, bytes)):
            raise TypeError(
                f"`words` must be an iterable of str, one a word. Received: {words!r}. "
                "Read a file with `Vocabulary.read(path)`."
            )
        self.words = tuple(words)
        for index, word in enumerate(self.words):
            _check_word(word, f"`words[{index}]`")
        self._index = _index(self.words, lambda i: f"`words[{i}]`")
        _check_specials(self._index, "`words`")
        self.bos_id = self._index[BOS]
        self.eos_id = self._index[EOS]
        self.unk_id = self._index[UNK]
        self._lookup = None

    @classmethod
    def build(
        cls, counts: Mapping[str, int], max_size: int | None = None, min_count: int = 1
    ) -> "Vocabulary":
        """The marks, then the counted words by falling count; equal counts by word.

        Args:
            counts: how often each word occurs. Marks in it are left out, and words that hold a
                line break, which no file could hold: they get `unk_id`.
            max_size: how many words to keep at most, the marks not counted. None keeps all.
            min_count: words that occur less often are left out.

        Raises:
            ValueError: if `max_size` is negative.
        """
        if max_size is not None and max_size < 0:
            raise ValueError(
                f"`max_size` must be at least 0, or None for no limit. Received: {max_size}."
            )
        kept = [w for w, n in counts.items() if n >= min_count and _is_ordinary(w)]
        kept.sort(key=lambda word: (-counts[word], word))
        return cls((*SPECIALS, *kept[:max_size]))

    @classmethod
    def read(cls, path: str | os.PathLike) -> "Vocabulary":
        """Reads a vocabulary file: UTF-8, one word a line, LF or CRLF line ends.

        The first line's word has id 0.

        Raises:
            FileNotFoundError: if there is no such file.
            ValueError: if the file is empty, is not UTF-8, has a blank line or a word twice, or
                lacks a mark. The message names the file and the line.
        """
        words = [line.decode() for line in lines_of(path)]
        if not words:
            raise ValueError(
                f"The vocabulary file {path} is empty. It must hold {', '.join(SPECIALS)}. "
                f"{_HOW_TO_BUILD}"
            )
        for number, word in enumerate(words, start=1):
            _check_word(word, f"line {number} of {path}")
        _check_specials(_index(words, lambda i: f"line {i + 1}", f" in {path}"), str(path))
        return cls(words)

    def write(self, path: str | os.PathLike) -> None:
        """Writes the words, one a line, UTF-8 with LF line ends; what is at `path` is replaced."""
        with whole_file(path) as file:
            file.write_bytes("".join(word + "\n" for word in self.words).encode())

    def ids(self, tokens: tf.Tensor | tf.RaggedTensor) -> tf.Tensor | tf.RaggedTensor:
        """Looks words up, in graph.

        Args:
            tokens: string tensor (or what converts to one) or `tf.RaggedTensor`, any shape.

        Returns:
            int32 tensor of the same shape. A word that is not listed, and a text spelt like a
            mark, has `unk_id`.

        Raises:
            TypeError: if `tokens` does not hold strings.
        """
        if not isinstance(tokens, (tf.RaggedTensor, tf.Tensor)):
            tokens = tf.convert_to_tensor(tokens)
        if tokens.dtype != tf.string:
            raise TypeError(
                "`tokens` must be a string tensor. "
                f"Received: dtype={tokens.dtype.name}, shape={tuple(tokens.shape)}. "
                "Pass the words themselves, not their ids."
            )
        return self._table().lookup(tokens)

    def out_of_order(self, counts: Mapping[str, int]) -> str | None:
        """Whether the words do not stand by falling frequency, as some softmaxes assume.

        Looked at are the listed words that occur. They are in order if their first tenth covers at
        least half of what the most frequent tenth covers. So ties, the noise of counts and the
        order of another text's frequencies pass, and an alphabetical list is found.

        Args:
            counts: how often each word occurs in the text.

        Returns:
            None if they are in order, else what was found, in one sentence.
        """
        found = [counts[word] for word in self.words if word not in SPECIALS and word in counts]
        if not sum(found):
            return None
        n = -(-len(found) // 10)
        share = sum(found[:n]) / sum(found)
        possible = sum(sorted(found, reverse=True)[:n]) / sum(found)
        if share >= ENOUGH_OF_POSSIBLE_SHARE * possible:
            return None
        return (
            f"the first {n:,} of the {len(found):,} vocabulary words that occur should be the most "
            f"frequent ones, which cover {possible:.0%} of the occurrences; they cover {share:.0%}"
        )

    def _table(self):
        if self._lookup is None:
            with tf.init_scope():  # made once, outside any graph, so every graph can use it
                self._lookup = self._make_table()
        return self._lookup

    def _make_table(self):
        ids = [self.unk_id if w in SPECIALS else i for i, w in enumerate(self.words)]
        keys = tf.constant([word.encode("utf-8") for word in self.words], tf.string)
        values = tf.constant(ids, tf.int32)
        return tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(keys, values),
            default_value=self.unk_id,
            experimental_is_anonymous=True,  # lives as long as a graph that uses it
        )

    def __len__(self):
        return len(self.words)

    def __contains__(self, word):
        return word in self._index

    def __repr__(self):
        return f"<Vocabulary of {len(self)} words>"


def _is_ordinary(word):
    return word not in SPECIALS and "\n" not in word and "\r" not in word


def _check_word(word, where):
    if not isinstance(word, str):
        raise TypeError(
            f"A vocabulary word must be a str. Received: {word!r} at {where}. Decode it first."
        )
    if not word.strip(" "):
        raise ValueError(
            f"A vocabulary word must not be blank. Received: {word!r} at {where}. Delete it."
        )
    if "\n" in word or "\r" in word:
        raise ValueError(
            f"A vocabulary word must stand on one line. Received: {word!r} at {where}. "
            "Remove the line break from it."
        )
    try:
        word.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"A vocabulary word must be writable as UTF-8. Received: {word!r} at {where}. "
            "Remove the lone surrogate from it."
        ) from error


def _index(words, place, context=""):
    index = {}
    for i, word in enumerate(words):
        if word in index:
            raise ValueError(
                "A vocabulary must hold each word once. "
                f"Received: {word!r} at {place(index[word])} and {place(i)}{context}. "
                "Remove one of the two."
            )
        index[word] = i
    return index


def _check_specials(words, where):
    missing = [mark for mark in SPECIALS if mark not in words]
    if missing:
        raise ValueError(
            f"A vocabulary must hold {', '.join(SPECIALS)}. "
            f"Missing from {where}: {', '.join(missing)}. {_HOW_TO_BUILD}"
        )
