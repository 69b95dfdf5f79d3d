"""Reading tagged sentences from files of CoNLL's form: a token a line, a blank line between."""

import os
import re
from typing import NamedTuple

from keras_elmo.basics.checks import check_count
from keras_elmo.basics.text_files import lines_of

DOCUMENT_START = "-DOCSTART-"
CONLLU_WIDTH = 10
_NO_WORD = re.compile(r"\d+[-.]\d+")  # CoNLL-U: a token of several words, or a word left out


class TaggedSentences(NamedTuple):
    """Sentences with a label for each token.

    Attributes:
        tokens: of each sentence.
        labels: as many.
        lines: where each token stands in the file, counted from 1.
    """

    tokens: list[list[str]]
    labels: list[list[str]]
    lines: list[list[int]]


def read_conll(
    path: str | os.PathLike,
    token_column: int = 1,
    label_column: int = 2,
    encoding: str = "utf-8",
) -> TaggedSentences:
    r"""Reads tagged sentences: a line for each token, columns, and blank lines between sentences.

    Columns are separated by tabs; by spaces where the file's first line that does not start with
    `#` has no tab. In files with tabs, lines that start with `#` and have no tab are comments
    (CoNLL-U), so that a token `#` stays one; files with spaces have no comments. `-DOCSTART-` lines
    (CoNLL-2003) are left out, and in CoNLL-U's ten columns the lines of ids such as `3-4`, `8.1`.

    Args:
        path: text file, gzip where its name ends in `.gz`.
        token_column: where the tokens are, counted from 1.
        label_column: where the labels are, counted from 1.
        encoding: of the file.

    Returns:
        `TaggedSentences`; no sentence is empty.

    Raises:
        FileNotFoundError: no such file.
        ValueError: a line that has other columns than the first one has, or no token or label in
            them; a text of another encoding; no sentence.

    Example:

    ```python
    with open("train.tsv", "w") as file:
        file.write("You\tPRON\nagree\tVERB\n\nNo\tINTJ\n")
    tokens, labels, lines = read_conll("train.tsv")   # tokens: [["You", "agree"], ["No"]]
    ```
    """
    columns = [check_count("token_column", token_column), check_count("label_column", label_column)]
    if columns[0] == columns[1]:
        raise ValueError(
            "`label_column` must be another column than `token_column`. "
            f"Received: {label_column} for both."
        )
    if not os.path.isfile(path):
        found = "a directory" if os.path.isdir(path) else "nothing there"
        raise FileNotFoundError(
            f"{path} must be a file of tagged sentences. Received: {found}. Check the path."
        )
    sentences: list[list] = [[]]
    for number, fields in _rows(path, [line.decode() for line in lines_of(path, encoding)]):
        if fields is not None:
            sentences[-1].append((*(_field(fields, c, path, number) for c in columns), number))
        elif sentences[-1]:
            sentences.append([])
    kept = [zip(*sentence, strict=True) for sentence in sentences if sentence]
    if not kept:
        raise ValueError(
            f"{path} must hold tagged sentences. Received: no line with a token. "
            "Give a file with a token and its label on each line, a blank line between sentences."
        )
    tokens, labels, lines = zip(*kept, strict=True)
    return TaggedSentences(*([list(row) for row in part] for part in (tokens, labels, lines)))


def _rows(path, lines):
    """Yields (line number, fields) for every token, and (line number, None) for blank lines."""
    has_tabs = _has_tabs(lines)
    width = None
    for number, line in enumerate(lines, start=1):
        if not line.strip(" \t"):
            yield number, None
            continue
        if has_tabs and line.startswith("#") and "\t" not in line:
            continue
        fields = line.split("\t") if has_tabs else list(filter(None, line.split(" ")))
        if fields[0] == DOCUMENT_START:
            continue
        width = width or len(fields)
        if len(fields) != width:
            raise ValueError(
                f"{path}, line {number}: there must be {width} columns, as on the lines before. "
                f"Received: {len(fields)}. Correct the line; a blank one ends a sentence."
            )
        if not (width == CONLLU_WIDTH and _NO_WORD.fullmatch(fields[0])):
            yield number, fields


def _has_tabs(lines):
    """Whether the first line that is certainly no comment, or else any line, has a tab."""
    texts = [line for line in lines if line.strip(" \t")]
    certain = next((line for line in texts if not line.startswith("#")), None)
    return any("\t" in line for line in (texts if certain is None else [certain]))


def _field(fields, column, path, number):
    field = fields[column - 1].strip() if column <= len(fields) else ""
    if not field:
        raise ValueError(
            f"{path}, line {number}: nothing in column {column} of {len(fields)}. Choose the "
            "columns of tokens and labels, or fill it in."
        )
    return field
