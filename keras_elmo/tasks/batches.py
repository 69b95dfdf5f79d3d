"""The batches that a classifier reads: sorted by length, with classes, with class numbers."""

import itertools
import types

import keras
import numpy as np
import tensorflow as tf

from keras_elmo.tasks.inputs import (
    batched,
    check_lengths,
    is_stream,
    map_batches,
    model_input,
    weight_array,
)
from keras_elmo.tasks.labels import label_list

BATCH = 128


def by_length(x):
    """The row numbers of texts (n,) or tokens (n, time), shortest first, int64 (n,)."""
    if x.shape.rank == 1:
        lengths = tf.strings.length(x)
    else:
        lengths = tf.math.count_nonzero(tf.not_equal(x, ""), axis=1)
    return np.argsort(lengths.numpy(), kind="stable")


def predict_by_length(predict, x):
    """What `predict` gives for `x`, run from the shortest row to the longest, in `x`'s own order.

    Args:
        predict: function of texts (n,) or tokens (n, time) to an array, or a structure of arrays,
            with n rows.
        x: string tensor.
    """
    order = by_length(x)
    back = np.argsort(order)
    return keras.tree.map_structure(lambda rows: rows[back], predict(tf.gather(x, order)))


def batches_by_length(x):
    """Yields all rows of `x` in batches of rows of about one length, which saves padding."""
    order = by_length(x)
    for start in range(0, len(order), BATCH):
        yield tf.gather(x, order[start : start + BATCH])


def stream_batches(stream, steps, found):
    """Yields the texts of a stream's batches and adds their labels to the set `found`.

    Args:
        stream: a tf.data.Dataset or PyDataset of (texts, labels) or (texts, labels, weights).
        steps: int, how many batches to read, or None for all.
        found: set of labels.

    Raises:
        ValueError: a stream that cannot be read twice, that does not end, or without labels.
    """
    if isinstance(stream, types.GeneratorType):
        raise ValueError(
            "`x` must be readable more than once, as the first `fit` takes classes and statistics "
            "from it before training. Received: a generator. Pass a tf.data.Dataset or a "
            "keras.utils.PyDataset, or construct with `classes=[...]` and `standardize=False`."
        )
    if steps is None and _is_endless(stream):
        raise ValueError(
            "`steps_per_epoch` must be given for a dataset that does not end. Received: None."
        )
    for batch in itertools.islice(each_batch(stream), steps):
        if not isinstance(batch, tuple) or len(batch) < 2:
            raise ValueError(
                "`x` must yield tuples (texts, labels) or (texts, labels, weights). "
                f"Received: {type(batch).__name__}."
            )
        found.update(label_list(batch[1]))
        yield batch[0]


def read_data(x, y, sample_weight, batch_size):
    """Texts, a list of labels, and weights of equal length; or a stream of batches of all three.

    Args:
        x: texts, tokens or a stream, as `model_input` returns them.
        y: labels in any container; None for a stream.
        sample_weight: numbers in any container, or None.
        batch_size: int, for a dataset of single texts.
    """
    if is_stream(x):
        return batched(x, batch_size), y, sample_weight
    y, sample_weight = label_list(y), weight_array(sample_weight)
    check_lengths(x, y, sample_weight)
    return x, y, sample_weight


def encode_validation(data, labels, inputs, batch_size):
    """`validation_data` of the user's own kind, as Keras takes it; None stays None."""
    if data is None:
        return None
    if is_stream(data):
        data = read_data(model_input(data, inputs), None, None, batch_size)[0]
        return encode_batches(data, None, labels)[0]
    x, y, sample_weight = (*data, None)[:3]
    x, y, sample_weight = read_data(model_input(x, inputs), y, sample_weight, batch_size)
    x, y = encode_batches(x, y, labels)
    return (x, y) if sample_weight is None else (x, y, sample_weight)


def encode_batches(x, y, labels):
    """Turns labels into class numbers: `y` where `x` is a tensor, else those in the stream `x`."""
    if not is_stream(x):
        return x, labels.encode(y)
    if isinstance(x, tf.data.Dataset):
        encode = labels.encode_tensor
        return x.map(lambda text, label, *weight: (text, encode(label), *weight)), y
    encode = labels.encode
    return map_batches(x, lambda batch: (batch[0], encode(batch[1]), *batch[2:])), y


def _is_endless(stream):
    if isinstance(stream, keras.utils.PyDataset):
        return stream.num_batches is None
    return stream.cardinality() == tf.data.INFINITE_CARDINALITY


def each_batch(stream):
    """The batches of a dataset or PyDataset, one after the other."""
    if not isinstance(stream, keras.utils.PyDataset):
        return iter(stream)
    n = stream.num_batches
    return (stream[i] for i in (itertools.count() if n is None else range(n)))
