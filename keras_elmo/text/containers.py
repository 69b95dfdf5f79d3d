"""Texts in whatever a user holds them -> a string tensor."""

import sys
from collections.abc import Callable, Mapping, Set
from decimal import Decimal
from typing import Any

import numpy as np
import tensorflow as tf

_MISSING = ("error", "empty")
_POSITIONS_SHOWN = 10


def as_text(x: Any, missing: str = "error") -> tf.Tensor | tf.data.Dataset:
    """Makes a string tensor of texts, one a row, from any container.

    Args:
        x: list, tuple, generator or other iterable of str or bytes; NumPy array of str, bytes or
            objects; pandas (or polars) Series, or DataFrame with one column; string tensor; each
            of shape `(n,)` or `(n, 1)`. Or a `tf.data.Dataset` of texts, or of
            (text, label[, weight]), batched or not. Lone surrogates in a str are left out. NumPy's
            fixed-width arrays drop NUL characters at the end of a text, before this function sees
            them; elsewhere they are kept.
        missing: `"error"` or `"empty"`: whether a missing text (None, NaN, NA, NaT) is an error or
            read as an empty text.

    Returns:
        string tensor of shape `(n,)`, UTF-8. For a dataset, a dataset whose texts are of shape
        `(batch,)`, or `()` where it is not batched; labels and weights are untouched.

    Raises:
        TypeError: if `x` is a single text, holds something else than texts (a number is never read
            as text), or is no container.
        ValueError: if texts are missing, or the shape is another than above.

    Example:

    >>> as_text(["I agree", "no"]).numpy().tolist()
    [b'I agree', b'no']
    """
    if missing not in _MISSING:
        raise ValueError(f'`missing` must be "error" or "empty". Received: {missing!r}.')
    if isinstance(x, tf.data.Dataset):
        return _dataset_of_texts(x)
    if isinstance(x, (tf.RaggedTensor, tf.SparseTensor)):
        raise TypeError(
            f"`x` must hold one text a row. Received: {type(x).__name__} of shape {x.shape}. "
            "Read rows of tokens with `as_tokens`."
        )
    if tf.is_tensor(x):
        return _column(tf.convert_to_tensor(x))
    return string_tensor(encode_strings(_entries(x), "x", lambda i: f"position {i}", missing))


def encode_strings(
    values: list, argument: str, place: Callable[[int], str], missing: str = "error"
) -> list[bytes]:
    """UTF-8 of str, bytes and scalar string tensors; `argument` and `place(index)` for messages.

    `missing="empty"` reads None, NaN, NA and NaT as empty strings; `"error"` raises.
    """
    encoded = [_encode(value) for value in values]
    if None not in encoded:
        return encoded
    other = [i for i, code in enumerate(encoded) if code is None]
    for i in other:
        if not is_missing(values[i]):
            raise TypeError(
                f"`{argument}` must hold strings. Received: {_short(values[i])} of type "
                f"{type(values[i]).__name__} at {place(i)}. {_advice(values[i], argument)}"
            )
    if missing == "error":
        shown = ", ".join(place(i) for i in other[:_POSITIONS_SHOWN])
        more = ", ..." if len(other) > _POSITIONS_SHOWN else ""
        raise ValueError(
            f"`{argument}` must have no missing entries. Received: {len(other)} missing of "
            f"{len(values)}, at {shown}{more} (counted from 0). Drop these rows, or say "
            '`missing="empty"` in `as_text` to read them as empty texts.'
        )
    return [b"" if code is None else code for code in encoded]


def string_tensor(encoded: list[bytes]) -> tf.Tensor:
    """String tensor of shape (n,) from a list of bytes, NUL bytes kept."""
    array: np.ndarray = np.empty(len(encoded), dtype=object)
    array[:] = encoded
    return tf.constant(array, tf.string)


def is_missing(value: Any) -> bool:
    """Whether a value stands for no value: None, NaN, NaT, or pandas' NA."""
    if value is None:
        return True
    if isinstance(value, (float, np.floating, np.datetime64, np.timedelta64, Decimal)):
        return bool(value != value)
    pandas = sys.modules.get("pandas")  # who holds its NA has imported it
    return pandas is not None and (value is pandas.NA or value is pandas.NaT)


def _encode(value):
    if isinstance(value, str):
        return value.encode("utf-8", "ignore")
    if isinstance(value, bytes):
        return bytes(value)
    if isinstance(value, tf.Tensor) and value.dtype == tf.string and value.shape.rank == 0:
        return value.numpy()
    return None


def _advice(value, argument):
    if argument == "tokens":
        return "Split raw sentences into tokens first."
    if isinstance(value, (list, tuple, np.ndarray)):
        return "Read rows of tokens with `as_tokens`."
    return "Pick the column that holds the texts, or turn the value into a str yourself."


def _short(value):
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _entries(x):
    """The rows of a container as a list of Python objects."""
    if isinstance(x, (str, bytes)):
        raise TypeError(
            f"`x` must be a container of texts. Received: the single text {_short(x)}. "
            "Put it in a list: [text]."
        )
    if isinstance(x, (Mapping, Set)):
        raise TypeError(
            f"`x` must be an ordered container of texts. Received: {type(x).__name__}. "
            "Pass a list of its texts."
        )
    if hasattr(x, "columns"):
        x = _only_column(x)
    if isinstance(x, np.ndarray):
        return _array_entries(x)
    try:
        return x.to_pylist() if hasattr(x, "to_pylist") else list(x)  # pyarrow's have it
    except TypeError as error:
        raise TypeError(
            f"`x` must be a container of texts. Received: {_short(x)} of type {type(x).__name__}. "
            "Pass a list, array, pandas column, string tensor or tf.data.Dataset."
        ) from error


def _only_column(frame):
    names = list(getattr(frame, "column_names", frame.columns))
    if len(names) != 1:
        raise ValueError(
            f"`x` must be a frame with one column, the texts. Received: {len(names)} columns, "
            f"{', '.join(map(repr, names))}. Pick one: frame[name]."
        )
    return frame[names[0]]


def _array_entries(array):
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise _wrong_shape(array.shape)
    return list(array) if array.dtype.kind in "mM" else array.tolist()


def _column(tensor, axes="(n,) or (n, 1)"):
    if tensor.dtype != tf.string:
        raise TypeError(
            f"`x` must be a string tensor of shape {axes}. "
            f"Received: dtype={tensor.dtype.name}, shape={tensor.shape}. Pass the texts themselves."
        )
    if tensor.shape.rank == 2 and tensor.shape[1] == 1:
        return tensor[:, 0]
    if tensor.shape.rank != 1:
        raise _wrong_shape(tensor.shape)
    return tensor


def _wrong_shape(shape):
    return ValueError(
        f"`x` must be of shape (n,) or (n, 1), one text a row. Received: shape={shape}. "
        "Put a single text in a list; read rows of tokens with `as_tokens`."
    )


def _dataset_of_texts(dataset):
    spec = dataset.element_spec
    text = spec[0] if isinstance(spec, tuple) and spec else spec
    if not isinstance(text, tf.TensorSpec) or text.dtype != tf.string:
        raise TypeError(
            "`x` must be a dataset of texts, or of (text, label[, weight]), with texts as a string "
            f"tensor. Received: elements of {spec}. "
            "Map it to that form; read rows of tokens with `as_tokens`."
        )
    if text.shape.rank in (0, 1):
        return dataset
    if text.shape.rank != 2 or text.shape[1] != 1:
        raise _wrong_shape(text.shape)
    if isinstance(spec, tuple):
        return dataset.map(lambda text, *rest: (text[:, 0], *rest))
    return dataset.map(lambda text: text[:, 0])
