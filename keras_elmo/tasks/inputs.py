"""From the containers that users hold to what Keras' fit, evaluate and predict let through.

Keras rejects lists of strings, `<U` arrays, pandas' text columns and Python lists of labels before
any layer runs, so the models of this package pass all their data through these functions first.
"""

import itertools
import types
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from keras_elmo.basics.by_length import batches_by_length
from keras_elmo.text.containers import is_missing


def is_stream(x: Any) -> bool:
    """Whether `x` yields batches that hold the labels too: tf.data, PyDataset or a generator."""
    return isinstance(x, (tf.data.Dataset, keras.utils.PyDataset, types.GeneratorType))


def can_shuffle(x: Any) -> bool:
    """Whether Keras can shuffle `x`; it warns where its default asks for what it cannot do."""
    return not isinstance(x, (tf.data.Dataset, types.GeneratorType))


def read_stream(stream: Any, read: Callable, batch_size: int) -> Any:
    """A stream of the same kind, of which each batch's texts or tokens have been read.

    Args:
        stream: tf.data.Dataset, PyDataset or generator of inputs, or of tuples of these with
            labels and weights. A dataset of single texts is batched.
        read: function of a batch of inputs, called in the graph for a tf.data.Dataset.
        batch_size: for a dataset of single texts.
    """
    if not isinstance(stream, tf.data.Dataset):
        return map_batches(stream, lambda batch: _with_first(batch, read))
    spec = stream.element_spec
    spec = spec[0] if isinstance(spec, tuple) else spec
    if isinstance(spec, tf.TensorSpec) and spec.shape.rank == 0:
        stream = stream.batch(batch_size)
    return stream.map(lambda *batch: _with_first(batch if len(batch) > 1 else batch[0], read))


def map_batches(stream: Any, function: Callable) -> Any:
    """Passes every batch of a PyDataset or a generator through `function`."""
    if isinstance(stream, keras.utils.PyDataset):
        return _MappedBatches(stream, function)
    return (function(batch) for batch in stream)


def batches_of(stream: Any, steps: int | None = None) -> Iterator:
    """The first batches of a dataset or PyDataset; without `steps` all."""
    if isinstance(stream, keras.utils.PyDataset):
        n = stream.num_batches
        stream = map(stream.__getitem__, itertools.count() if n is None else range(n))
    return itertools.islice(stream, steps)


def is_endless(stream: Any) -> bool:
    """Whether a dataset or PyDataset does not end."""
    if isinstance(stream, keras.utils.PyDataset):
        return stream.num_batches is None
    return stream.cardinality() == tf.data.INFINITE_CARDINALITY


def predict_by_length(predict: Callable, x: Any, lengths: np.ndarray) -> Any:
    """What `predict` gives for `x`, run in the order of length, in `x`'s own order.

    Args:
        predict: function of rows to an array, or a structure of arrays, with as many rows.
        x: tensor or RaggedTensor with a row or more.
        lengths: of its rows.
    """
    order = next(batches_by_length(lengths, len(lengths)))
    back = np.argsort(order)
    return keras.tree.map_structure(lambda rows: rows[back], predict(tf.gather(x, order)))


def label_array(y: Any, name: str = "y") -> Any:
    """Converts labels or weights in any container to an array or tensor that Keras takes.

    Args:
        y: list, tuple, NumPy array, pandas Series, one-column DataFrame or tensor of numbers.
        name: the argument's name, for error texts.

    Raises:
        ValueError: rows of unequal length.
        TypeError: entries that are not numbers.
    """
    if y is None or tf.is_tensor(y):
        return y
    try:
        array = np.asarray(y)
    except ValueError as error:
        raise ValueError(
            f"`{name}` must have rows of one length. Received rows of different lengths. "
            "Pad them to one length first."
        ) from error
    if array.dtype.kind in "biuf":
        return _without_missing(array, name)
    try:
        floats = _as_floats(array)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"`{name}` must hold numbers. Received: {array.ravel()[:3].tolist()}... "
            "Use `keras_elmo.TextClassifier`, which takes any labels, or number the classes first."
        ) from error
    return _without_missing(floats, name)


def _as_floats(array):
    """Objects as float32, missing ones of every kind as NaN."""
    entries = [np.nan if is_missing(value) else value for value in array.ravel().tolist()]
    return np.array(entries, object).astype("float32").reshape(array.shape)


def _without_missing(array, name):
    if array.dtype.kind == "f" and np.isnan(array).any():
        rows = np.unique(np.argwhere(np.isnan(array))[:, 0]) if array.ndim else [0]
        shown = ", ".join(map(str, rows[:10]))
        raise ValueError(
            f"`{name}` must have no missing entries. Received: {len(rows)} rows with NaN or None, "
            f"first in row {shown}. Fill them in, or drop these rows."
        )
    return array


def weight_array(sample_weight: Any) -> Any:
    """Weights of rows in any container as an array or tensor; None stays None.

    Raises:
        ValueError: a weight is negative or infinite, or none is above 0.
    """
    weights = label_array(sample_weight, "sample_weight")
    if weights is not None and len(weights):
        values = np.asarray(weights, np.float64)
        wrong = np.flatnonzero(
            ~(np.isfinite(values) & (values >= 0)).reshape(len(values), -1).all(1)
        )
        if len(wrong) or not values.any():
            row = wrong[0] if len(wrong) else 0
            raise ValueError(
                "`sample_weight` must hold numbers >= 0, one of them above 0. Received: "
                f"{values[row]} in row {row}. Correct it; 0 leaves a row out."
            )
    return weights


def check_lengths(x: Any, y: Any, sample_weight: Any = None) -> None:
    """Raises a ValueError unless texts, labels and weights have as many rows as each other."""
    if x.shape[0] == 0:
        raise ValueError("`x` must hold at least one text. Received: none.")
    for name, values in (("y", y), ("sample_weight", sample_weight)):
        if values is not None and len(values) != x.shape[0]:
            raise ValueError(
                f"`{name}` must have one entry for each of the {x.shape[0]} texts in `x`. "
                f"Received: {len(values)} entries. Pass both from the same rows."
            )


def split_rows(fraction: float, *arrays: Any) -> tuple[tuple, tuple]:
    """Cuts the last `fraction` of the rows off, as Keras' `validation_split` does.

    Returns:
        Two tuples: the first rows of each array, and its last ones (None stays None).
    """
    n = arrays[0].shape[0]
    n_first = int(np.floor(n * (1.0 - fraction)))
    if not 0 < n_first < n:
        raise ValueError(
            "`validation_split` must leave rows for training and for validation. "
            f"Received: validation_split={fraction} with {n} rows. Choose another fraction."
        )
    first = tuple(None if a is None else a[:n_first] for a in arrays)
    last = tuple(None if a is None else a[n_first:] for a in arrays)
    return first, last


class _MappedBatches(keras.utils.PyDataset):
    """The batches of a PyDataset, each passed through a function."""

    def __init__(self, batches, function):
        super().__init__(
            workers=batches.workers,
            use_multiprocessing=batches.use_multiprocessing,
            max_queue_size=batches.max_queue_size,
        )
        self.batches = batches
        self.function = function

    @property
    def num_batches(self):
        return self.batches.num_batches

    def __getitem__(self, index):
        return self.function(self.batches[index])

    def on_epoch_begin(self):
        self.batches.on_epoch_begin()

    def on_epoch_end(self):
        self.batches.on_epoch_end()


def _with_first(batch, read):
    """A batch whose first entry, or all of it, has been read."""
    return (read(batch[0]), *batch[1:]) if isinstance(batch, tuple) else read(batch)
