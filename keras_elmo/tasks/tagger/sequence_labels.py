"""Tokens with a label each: from the containers that users hold to ragged rows of class numbers."""

import numpy as np
import tensorflow as tf

from keras_elmo.tasks.labels import label_list
from keras_elmo.text.containers import is_missing


def read_labels(y, tokens, name="labels"):
    """Labels as a list of lists, one for each token.

    Args:
        y: list of lists, or RaggedTensor (n, None); or array or dense tensor (n, time), of which
            what stands beyond a row's tokens is padding.
        tokens: RaggedTensor string (n, None).
        name: the argument's name, for error texts.

    Raises:
        TypeError: labels that are not one list a sentence.
        ValueError: another number of rows, a row that is longer or shorter than its tokens, a
            missing label.
    """
    lengths = tokens.row_lengths().numpy()
    rows = _rows(y, name)
    if len(rows) != len(lengths):
        raise ValueError(
            f"`{name}` must have one row for each of the {len(lengths)} sentences. "
            f"Received: {len(rows)} rows. Pass both from the same data."
        )
    if _is_dense(y):
        rows = [row[:length] for row, length in zip(rows, lengths, strict=True)]
    for number, (row, length) in enumerate(zip(rows, lengths, strict=True)):
        if len(row) != length:
            raise ValueError(
                f"`{name}` must have a label for each token. Received in row {number}: "
                f"{len(row)} labels for {length} tokens. Correct the row, or leave it out."
            )
        _check_present(row, number, name)
    return [label_list(row, f"{name}[{number}]") for number, row in enumerate(rows)]


def encode_labels(labels, rows, name="labels"):
    """Class numbers as a RaggedTensor int32 (n, None).

    Args:
        labels: `Labels`.
        rows: list of lists of labels, as `read_labels` gives them.
        name: the argument's name, for error texts.

    Raises:
        ValueError: a label that is not among the classes.
    """
    known = set(labels.classes)
    for number, row in enumerate(rows):
        for at, label in enumerate(row):
            if label not in known:
                raise ValueError(
                    f"`{name}` must be of the classes that the model knows: "
                    f"{', '.join(map(repr, labels.classes))}. Received: {label!r} in row {number}, "
                    f"position {at}. Correct it, or train a tagger that knows it (`classes=`)."
                )
    numbers = labels.encode([label for row in rows for label in row])
    return tf.RaggedTensor.from_row_lengths(numbers, [len(row) for row in rows])


def _rows(y, name):
    if isinstance(y, tf.RaggedTensor):
        return y.to_list()
    if tf.is_tensor(y):
        y = y.numpy()
    wrong = isinstance(y, (str, bytes, dict)) or not hasattr(y, "__iter__")
    rows = [] if wrong else [_row(row) for row in y]
    if wrong or any(row is None for row in rows):
        shown = f"row {rows.index(None)}: {list(y)[rows.index(None)]!r:.60}" if rows else repr(y)
        raise TypeError(
            f"`{name}` must hold one list of labels a sentence. Received: {shown:.80}. "
            'Put them in a list of lists: [["PRON", "VERB"]].'
        )
    return rows


def _row(row):
    """A row as a list; None for what is no row."""
    if tf.is_tensor(row):
        row = row.numpy()
    if isinstance(row, (str, bytes, dict)) or not hasattr(row, "__iter__"):
        return None
    return list(row) if getattr(row, "ndim", 1) == 1 else None


def _is_dense(y):
    return (
        not isinstance(y, tf.RaggedTensor) and len(np.shape(y) if hasattr(y, "shape") else ()) == 2
    )


def _check_present(row, number, name):
    for at, label in enumerate(row):
        if is_missing(label):
            raise ValueError(
                f"`{name}` must have no missing entries. Received: {label!r} in row {number}, "
                f"position {at}. Fill it in, or leave the sentence out."
            )
