"""Reading word vectors from text files in GloVe's format."""

import collections
import itertools
import os
from collections.abc import Iterable

import numpy as np

from keras_elmo.basics.checks import check_flag
from keras_elmo.basics.text_files import lines_of
from keras_elmo.embedding.word_vectors import WordVectors

ZIP_MARK = b"PK"
LOOKED_AT = 100  # lines that tell how many values a vector has
MOST_WORDS_IN_A_WORD = 8


def load_glove(
    path: str | os.PathLike, words: Iterable[str] | None = None, normalize: bool = False
) -> WordVectors:
    r"""Reads a file of word vectors: a word and its values a line, separated by single spaces.

    This is the format of the published GloVe files, plain or `.gz`. A word may have spaces in
    it, as some in the published files have: its vector is the last `dim` fields, where `dim` is
    what most of the first lines have. A first line of two whole numbers (how many words, `dim`),
    which word2vec and fastText write, is left out. Where a word occurs twice, its first line
    counts. Only the line feed ends a line, as words with other separators in them are published.

    Args:
        path: the file.
        words: words to keep, and their lower-cased forms; None keeps all. The order is always
            the file's.
        normalize: whether vectors are scaled to length 1.

    Raises:
        FileNotFoundError: no such file.
        ValueError: a line that is damaged, with its number; no vectors; none of `words` in it.

    Example:

    ```python
    with open("vectors.txt", "w") as file:
        file.write("the 0.5 -1\ncat 1 2\n")
    load_glove("vectors.txt", words=["The", "dog"])   # WordVectors(1 words, dim=2)
    ```
    """
    check_flag("normalize", normalize)
    _check_file(path)
    keep = None if words is None else _with_lower(words)
    rows = {}
    for number, word, values in _vectors_of(path):
        if word not in rows and (keep is None or word in keep):
            rows[word] = _numbers(values, path, number)
    if not rows:
        raise ValueError(
            f"`words` must have a word of {path} among them. Received: {len(keep or ())} words "
            "that it does not have. Lower-case them if its words are."
        )
    vectors = np.stack(list(rows.values()))
    return WordVectors(tuple(rows), _to_length_one(vectors) if normalize else vectors)


def _with_lower(words):
    if isinstance(words, (str, bytes)):
        raise TypeError(f"`words` must hold words. Received: {words!r:.60}. Put it in a list.")
    words = set(words)
    return words | {word.lower() for word in words}


def _vectors_of(path):
    """Yields (line number, word, fields of the vector) of every line that holds one."""
    lines = _lines(path)
    first = list(itertools.islice(lines, LOOKED_AT))
    if first and _is_header(first[0][1]):
        del first[0]
    if not first:
        raise ValueError(
            f"{path} must hold word vectors. Received: no line with one. Give a file with a word "
            "and its numbers on each line."
        )
    counts = collections.Counter(len(fields) - 1 for _, fields in first)
    dim = counts.most_common(1)[0][0]
    for number, fields in itertools.chain(first, lines):
        n_in_word = len(fields) - dim
        if dim < 1 or not 0 < n_in_word <= max(dim, MOST_WORDS_IN_A_WORD):
            raise ValueError(
                f"{path}, line {number}: a word and its {max(dim, 1)} values must stand here, "
                f"separated by single spaces (not tabs). Received: {len(fields)} fields. The file "
                "may be damaged or of another form: fetch it again, or delete the line."
            )
        word = " ".join(fields[:n_in_word])
        if not word:
            raise ValueError(f"{path}, line {number}: there is no word. Delete the line.")
        yield number, word, fields[n_in_word:]


def _lines(path):
    """Yields (number, fields) of every line that is not blank."""
    for number, line in enumerate(lines_of(path), start=1):
        if text := line.decode().rstrip(" "):
            yield number, text.split(" ")


def _check_file(path):
    if not os.path.isfile(path):
        found = "a directory" if os.path.isdir(path) else "nothing there"
        raise FileNotFoundError(
            f"{path} must be a file of word vectors. Received: {found}. Check the path."
        )
    with open(path, "rb") as file:
        if file.read(2) == ZIP_MARK:
            raise ValueError(f"{path} is a zip archive. Unpack it, and give a file from it.")


def _is_header(fields):
    return len(fields) == 2 and all(field.isdecimal() for field in fields)


def _numbers(values, path, number):
    """Fields of a line as float32."""
    numbers = _float32(values)
    if not np.isfinite(numbers).all():
        wrong = next(value for value in values if not np.isfinite(_float32([value])).all())
        raise ValueError(
            f"{path}, line {number}: the last {len(values)} fields must be finite numbers. "
            f"Received: {wrong!r:.40}. The file may be damaged: fetch it again, or delete the line."
        )
    return numbers


def _float32(values):
    try:
        with np.errstate(over="ignore"):
            return np.array(values, np.float32)
    except ValueError:
        return np.float32([np.nan])


def _to_length_one(vectors):
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)
