"""Texts that are split into tokens already -> a ragged tensor."""

import bisect
from typing import Any

import numpy as np
import tensorflow as tf

from keras_elmo.text.containers import encode_strings, is_missing, string_tensor


def as_tokens(x: Any, sequence_len: Any = None) -> tf.RaggedTensor:
    """Makes a ragged tensor of tokens, one sentence a row.

    A token is taken as it is: `"New York"` stays one. Row r keeps its first `sequence_len[r]`
    tokens, empty ones among them included; without `sequence_len`, empty strings at the end of a
    row are padding, and an error elsewhere.

    Args:
        x: list or other iterable of sentences, each a list, tuple or 1-D array of str or bytes;
            `tf.RaggedTensor`, string, `(batch, None)`; or string array or tensor, `(batch, time)`,
            padded with `""`.
        sequence_len: integers, `(batch,)`, tokens in each row. None: by the padding.

    Returns:
        `tf.RaggedTensor`, string, `(batch, None)`.

    Raises:
        TypeError: if `x` holds sentences not split into tokens, or anything but strings; if
            `sequence_len` does not hold integers.
        ValueError: if `x` is not of rank 2, an empty token stands before the end of a row (no
            `sequence_len` given), or `sequence_len` is of another shape, negative, or longer than
            its row. In a graph, the last three are checked when it runs, and the error is
            `tf.errors.InvalidArgumentError`.

    Example:

    >>> as_tokens([["New York", "is", "big"], ["no"]]).to_list()
    [[b'New York', b'is', b'big'], [b'no']]
    """
    if tf.is_tensor(x):
        tokens = _tensor_rows(x)
    elif (isinstance(x, np.ndarray) and x.ndim != 1) or hasattr(x, "columns"):
        tokens = _array_rows(np.asarray(x))
    else:
        tokens = _python_rows(x, allow_empty=sequence_len is not None)
    if sequence_len is None:
        return _cut(tokens, _lengths_without_padding(tokens))
    return _cut(tokens, _check_sequence_len(sequence_len, tokens))


def _tensor_rows(x):
    if not isinstance(x, tf.RaggedTensor):
        x = tf.convert_to_tensor(x)
    if x.dtype != tf.string or x.shape.rank != 2:
        error = ValueError if x.dtype == tf.string else TypeError
        raise error(
            "`tokens` must be a string tensor of shape (batch, time). "
            f"Received: dtype={x.dtype.name}, shape={x.shape}. "
            "Split raw sentences into tokens first."
        )
    return x if isinstance(x, tf.RaggedTensor) else tf.RaggedTensor.from_tensor(x)


def _array_rows(array):
    if array.ndim != 2:
        raise ValueError(
            "`tokens` must be an array of strings of shape (batch, time). "
            f"Received: dtype={array.dtype}, shape={array.shape}. "
            "Split raw sentences into tokens first."
        )
    return _ragged(array.tolist())


def _python_rows(x, allow_empty):
    rows = [_row(row, number) for number, row in enumerate(_sentences(x))]
    if not allow_empty:
        for number, row in enumerate(rows):
            _check_no_empty_token(row, number)
    return _ragged(rows)


def _sentences(x):
    if isinstance(x, (str, bytes, dict)):
        raise TypeError(
            f"`tokens` must hold one list of tokens a sentence. Received: {x!r:.60}. "
            'Split it into tokens first, and put them in a list of lists: [["I", "agree"]].'
        )
    try:
        return list(x)
    except TypeError as error:
        raise TypeError(
            "`tokens` must hold one list of tokens a sentence. "
            f"Received: {x!r:.60} of type {type(x).__name__}. "
            "Pass a list of lists, a RaggedTensor or a padded array."
        ) from error


def _row(row, number):
    if tf.is_tensor(row):
        row = row.numpy()
    if isinstance(row, (str, bytes)):
        raise TypeError(
            "`tokens` must hold one list of tokens a sentence. "
            f"Received: {row!r:.60} at row {number}, which looks like a sentence. "
            "Read sentences with `as_text`, or split them into tokens first (`tokenize`)."
        )
    if is_missing(row):
        raise ValueError(
            f"`tokens` must have no missing rows. Received: {row!r} at row {number}. "
            "Drop the row, or make it an empty list."
        )
    if isinstance(row, dict) or not hasattr(row, "__iter__") or getattr(row, "ndim", 1) != 1:
        raise TypeError(
            "`tokens` must hold one list of tokens a sentence. "
            f"Received: {row!r:.60} of type {type(row).__name__} at row {number}. "
            "Split raw sentences into tokens first."
        )
    return list(row)


def _check_no_empty_token(row, number):
    length = len(row)
    while length and _is_empty(row[length - 1]):
        length -= 1
    for position, token in enumerate(row[:length]):
        if _is_empty(token):
            raise ValueError(
                f"`tokens` must not hold an empty token before the end of a row. Received: "
                f"{token!r} at row {number}, position {position}. "
                "Remove it, or give `sequence_len` if it counts as a token."
            )


def _is_empty(token):
    return isinstance(token, (str, bytes)) and not token


def _ragged(rows):
    lengths = [len(row) for row in rows]
    ends = np.cumsum(lengths, dtype=np.int64)

    def place(index):
        row = bisect.bisect_right(ends, index)
        return f"row {row}, position {index - (ends[row] - lengths[row])}"

    flat = encode_strings([token for row in rows for token in row], "tokens", place)
    splits = np.concatenate([[0], ends]).astype(np.int64)
    return tf.RaggedTensor.from_row_splits(string_tensor(flat), splits)


def _lengths_without_padding(tokens):
    is_token = tokens.flat_values != ""
    ends = tf.where(is_token, _positions(tokens) + 1, tf.constant(0, tf.int64))
    last = tf.math.unsorted_segment_max(ends, tokens.value_rowids(), tokens.nrows())
    lengths = tf.maximum(last, 0)
    count = tf.math.unsorted_segment_sum(
        tf.cast(is_token, tf.int64), tokens.value_rowids(), tokens.nrows()
    )
    return _check_padding_is_last(lengths, count)


def _check_padding_is_last(lengths, count):
    message = (
        '`tokens` must have their padding `""` after the last token of a row. '
        "Received: an empty token before it{}. Pad at the end (`padding='post'`), or give "
        "`sequence_len` if empty tokens count."
    )
    if tf.executing_eagerly():
        wrong = np.flatnonzero(lengths != count)
        if wrong.size:
            raise ValueError(message.format(f", in row {wrong[0]}"))
        return lengths
    check = tf.debugging.assert_equal(lengths, count, message.format(""))
    with tf.control_dependencies([check]):
        return tf.identity(lengths)


def _positions(tokens):
    rows = tokens.value_rowids()
    starts = tf.gather(tokens.row_starts(), rows)
    return tf.cast(tf.range(tf.size(rows, rows.dtype), dtype=rows.dtype) - starts, tf.int64)


def _cut(tokens, lengths):
    kept = _positions(tokens) < tf.gather(lengths, tokens.value_rowids())
    flat = tf.boolean_mask(tokens.flat_values, kept)
    return tf.RaggedTensor.from_row_lengths(flat, lengths, validate=False)


def _check_sequence_len(sequence_len, tokens):
    if not tf.is_tensor(sequence_len):
        sequence_len = np.asarray(sequence_len)
        if sequence_len.size == 0:
            sequence_len = sequence_len.astype(np.int64)
        if sequence_len.dtype.kind not in "iu":
            raise _not_integers(sequence_len.dtype, sequence_len.shape)
    lengths = tf.convert_to_tensor(sequence_len)
    if not lengths.dtype.is_integer:
        raise _not_integers(lengths.dtype.name, lengths.shape)
    if not lengths.shape.is_compatible_with(tokens.shape[:1]):
        raise ValueError(
            f"`sequence_len` must have one entry a row, shape {tokens.shape[:1]}. "
            f"Received: shape={lengths.shape}. Give the number of tokens of each row."
        )
    return _check_bounds(tf.cast(lengths, tf.int64), tokens)


def _not_integers(dtype, shape):
    return TypeError(
        "`sequence_len` must hold integers, shape (batch,). "
        f"Received: dtype={dtype}, shape={shape}. Give the number of tokens of each row."
    )


def _check_bounds(lengths, tokens):
    available = tf.cast(tokens.row_lengths(), tf.int64)
    if tf.executing_eagerly():
        wrong = np.flatnonzero((lengths < 0) | (lengths > available))
        if wrong.size:
            row = wrong[0]
            raise ValueError(
                "`sequence_len` must be between 0 and the row's width. "
                f"Received: {lengths[row]} for row {row}, which has {available[row]}. "
                "Give the number of tokens of each row."
            )
        return lengths
    message = "`sequence_len` must be between 0 and the row's width, shape (batch,)."
    checks = [
        tf.debugging.assert_non_negative(lengths, message),
        tf.debugging.assert_less_equal(lengths, available, message),
        tf.debugging.assert_equal(tf.size(lengths), tf.size(available), message),
    ]
    with tf.control_dependencies(checks):
        return tf.identity(lengths)
