"""What a classifier takes from its training data before the first epoch."""

import collections
import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from keras_elmo.basics.by_length import batches_by_length
from keras_elmo.tasks.inputs import batches_of, is_endless, is_stream
from keras_elmo.tasks.labels import label_list

BATCH = 128


def first_pass(classifier: Any, x: Any, steps: int | None) -> None:
    """Takes statistics, and of a stream the classes, from the training data if not known.

    `x` are tokens, RaggedTensor (n, None), or a stream of (tokens, labels[, weights]).
    """
    found: set = set()

    def batches():
        if is_stream(x):
            return _stream_batches(x, steps, found)
        rows = batches_by_length(x.row_lengths().numpy(), BATCH)
        return (tf.gather(x, numbers) for numbers in rows)

    for layer, read in (
        (classifier.standardization, classifier.features),
        (classifier.characters, classifier.tokens),
    ):
        if layer is not None and not layer.adapted:
            layer.adapt(map(traced(classifier, read), batches()))
    if classifier.labels is None:
        if not found:
            collections.deque(batches(), maxlen=0)
        classifier.learn_classes(list(found))


def traced(classifier: Any, function: Callable) -> Callable:
    """A function of tokens as one graph, unless the classifier runs eagerly."""
    if classifier.compiled and classifier.run_eagerly:
        return function
    # A partial is new each time: TensorFlow would take the graphs of several models for one
    # function that is traced too often, and warn.
    signature = [tf.RaggedTensorSpec((None, None), tf.string)]
    return tf.function(functools.partial(function), signature)


def _stream_batches(stream: Any, steps: int | None, found: set) -> Iterator:
    """Yields the inputs of a stream's batches and adds their labels to the set `found`."""
    if isinstance(stream, types.GeneratorType):
        raise ValueError(
            "`x` must be readable more than once, as the first `fit` takes classes and statistics "
            "from it before training. Received: a generator. Pass a tf.data.Dataset or a "
            "keras.utils.PyDataset, or construct with `classes=[...]` and `standardize=False`."
        )
    if steps is None and is_endless(stream):
        raise ValueError(
            "`steps_per_epoch` must be given for a dataset that does not end. Received: None."
        )
    for batch in batches_of(stream, steps):
        if not isinstance(batch, tuple) or len(batch) < 2:
            raise ValueError(
                "`x` must yield tuples (texts, labels) or (texts, labels, weights). "
                f"Received: {type(batch).__name__}."
            )
        found.update(label_list(batch[1]))
        yield batch[0]
