"""From the containers that users hold to what Keras' fit, evaluate and predict let through.

Keras rejects lists of strings, `<U` arrays, pandas' text columns and Python lists of labels before
any layer runs, so the models of this package pass all their data through these functions first.
"""

import types

import keras
import numpy as np
import tensorflow as tf

from keras_elmo.text.containers import as_text, is_missing
from keras_elmo.text.tokens import as_tokens


def is_stream(x):
    """Whether `x` yields batches that hold the labels too: tf.data, PyDataset or a generator."""
    return isinstance(x, (tf.data.Dataset, keras.utils.PyDataset, types.GeneratorType))


def can_shuffle(x):
    """Whether Keras can shuffle `x`; it warns where its default asks for what it cannot do."""
    return not isinstance(x, (tf.data.Dataset, types.GeneratorType))


def model_input(x, inputs="auto"):
    """Converts texts or tokens to a string tensor, and batches of them to batches of such tensors.

    Args:
        x: texts in any container of `as_text`; tokens as a list of lists, a RaggedTensor, an array
            or tensor of shape (n, time) padded with "", or a dict with the keys "tokens" and
            "sequence_len"; or a tf.data.Dataset, a PyDataset or a generator of such batches.
        inputs: "text" or "tokens" to say which of both `x` holds, "auto" to let its form decide.

    Returns:
        A string tensor: texts (n,), or tokens (n, time) with time >= 2, "" at padding. For a
        stream of batches, a stream of the same kind (unbatched datasets stay unbatched).
    """
    if isinstance(x, tf.data.Dataset):
        return _text_dataset(x)
    if isinstance(x, keras.utils.PyDataset):
        return _MappedBatches(x, lambda batch: _convert_batch(batch, inputs))
    if isinstance(x, types.GeneratorType):
        return (_convert_batch(batch, inputs) for batch in x)
    if inputs == "tokens" or (inputs == "auto" and holds_tokens(x)):
        return _padded_tokens(x)
    return as_text(x)


def holds_tokens(x):
    """Whether `x` has the form of tokens: rows of strings rather than one string a row."""
    if isinstance(x, tf.RaggedTensor) or (isinstance(x, dict) and "tokens" in x):
        return True
    if isinstance(x, (list, tuple)) or _holds_objects(x):
        first = next((row for row in _flat_rows(x) if row is not None), None)
        if isinstance(first, (list, tuple, np.ndarray)):
            return True
    shape = getattr(x, "shape", ())
    return not hasattr(x, "columns") and len(shape) == 2 and shape[1] != 1


def holds_text(x):
    """Whether `x` is a Python, NumPy or pandas container whose first entry is a string."""
    if isinstance(x, (list, tuple)):
        return len(x) > 0 and (isinstance(x[0], (str, bytes)) or holds_text(x[0]))
    if isinstance(x, np.ndarray) or hasattr(x, "iloc"):
        array = np.asarray(x)
        first = array.flat[0] if array.size else None
        return array.dtype.kind in "UST" or isinstance(first, (str, bytes, list, tuple))
    return False


def label_array(y, name="y"):
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


def weight_array(sample_weight):
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


def check_lengths(x, y, sample_weight=None):
    """Raises a ValueError unless texts, labels and weights have as many rows as each other."""
    if x.shape[0] == 0:
        raise ValueError("`x` must hold at least one text. Received: none.")
    for name, values in (("y", y), ("sample_weight", sample_weight)):
        if values is not None and len(values) != x.shape[0]:
            raise ValueError(
                f"`{name}` must have one entry for each of the {x.shape[0]} texts in `x`. "
                f"Received: {len(values)} entries. Pass both from the same rows."
            )


def split_rows(fraction, *arrays):
    """Cuts the last `fraction` of the rows off, as Keras' `validation_split` does.

    Returns:
        Two tuples: the first rows of each array, and its last ones (None stays None).
    """
    n = len(arrays[0])
    n_first = int(np.floor(n * (1.0 - fraction)))
    if not 0 < n_first < n:
        raise ValueError(
            "`validation_split` must leave rows for training and for validation. "
            f"Received: validation_split={fraction} with {n} rows. Choose another fraction."
        )
    first = tuple(None if a is None else a[:n_first] for a in arrays)
    last = tuple(None if a is None else a[n_first:] for a in arrays)
    return first, last


def batched(stream, batch_size):
    """Batches a dataset of single texts; leaves every other stream as it is."""
    if isinstance(stream, tf.data.Dataset) and _text_spec(stream).shape.rank == 0:
        return stream.batch(batch_size)
    return stream


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


def map_batches(stream, function):
    """Passes every batch of a PyDataset or a generator through `function`."""
    if isinstance(stream, keras.utils.PyDataset):
        return _MappedBatches(stream, function)
    return (function(batch) for batch in stream)


def _convert_batch(batch, inputs):
    if isinstance(batch, tuple):
        return (model_input(batch[0], inputs), *batch[1:])
    return model_input(batch, inputs)


def _text_spec(dataset):
    spec = dataset.element_spec
    return spec[0] if isinstance(spec, tuple) else spec


def _text_dataset(dataset):
    """Brings texts to rank 1 (or 0 where unbatched); leaves tokens and numbers as they are."""
    spec = _text_spec(dataset)
    if not isinstance(spec, tf.TensorSpec) or spec.dtype != tf.string:
        return dataset
    is_text = spec.shape.rank is not None and (spec.shape.rank < 2 or spec.shape[-1] == 1)
    return as_text(dataset) if is_text else dataset


def _holds_objects(x):
    return isinstance(getattr(x, "dtype", None), np.dtype) and x.dtype.kind == "O"


def _flat_rows(x):
    return x if isinstance(x, (list, tuple)) else np.asarray(x).ravel()


def _padded_tokens(x):
    """Tokens as a dense tensor; two columns or more, as a single one would read as raw texts."""
    if isinstance(x, dict):
        tokens = as_tokens(x["tokens"], sequence_len=x.get("sequence_len"))
    else:
        tokens = as_tokens(x)
    padded = tokens.to_tensor("")
    return tf.pad(padded, [[0, 0], [0, max(0, 2 - padded.shape[1])]], constant_values="")
