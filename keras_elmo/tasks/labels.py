"""`Labels`: the user's own labels, of any type, and the class numbers that a model trains on."""

import contextlib
import re
from typing import Any

import numpy as np
import tensorflow as tf

from keras_elmo.tasks.inputs import check_lengths, is_stream, map_batches, weight_array


class Labels:
    """The sorted classes of a task; turns labels into class numbers and back.

    Args:
        classes: at least two distinct labels of one kind: strings, bools, or whole numbers.

    Raises:
        ValueError: fewer than two classes, mixed kinds, or a number that is not whole.

    Example:

    ```python
    Labels(["spam", "ham"]).encode(["spam", "ham"])   # array([1, 0], dtype=int32)
    ```
    """

    def __init__(self, classes):
        distinct = set(label_list(classes, name="classes"))
        kinds = {str if isinstance(label, str) else float for label in distinct}
        if len(kinds) > 1:
            raise ValueError(
                "labels must be of one kind. Received strings and numbers: "
                f"{sorted(map(repr, distinct))[:6]}. Convert them to one type first."
            )
        if len(distinct) < 2:
            raise ValueError(
                "labels of at least two classes are needed. Received one class only: "
                f"{', '.join(map(repr, distinct)) or 'no label'}. Add examples of another class."
            )
        self.classes = tuple(sorted(distinct))
        self._numbers = {label: number for number, label in enumerate(self.classes)}

    def __len__(self):
        return len(self.classes)

    def encode(self, y, name="y"):
        """Class numbers, int32 (n,), of labels in any container.

        Raises:
            ValueError: a label that is not among the classes, with its row.
        """
        labels = label_list(y, name)
        for row, label in enumerate(labels):
            if label not in self._numbers:
                raise ValueError(f"`{name}`: {self._unknown(label, f', first in row {row}')}")
        return np.array([self._numbers[label] for label in labels], np.int32)

    def encode_tensor(self, y):
        """Class numbers, int32 (batch,), of a dataset's batch: `encode`, from the graph."""
        numbers = tf.numpy_function(self.encode, [y], tf.int32)
        numbers.set_shape((None,))
        return numbers

    def decode(self, numbers):
        """The labels, an array of the user's own type, of class numbers (n,)."""
        return np.array(self.classes)[np.asarray(numbers)]

    def encode_weights(self, class_weight):
        """Turns a checked `class_weight`, keyed by label, into one keyed by class number."""
        strange = [label for label in class_weight if label not in self._numbers]
        if strange:
            raise ValueError(f"`class_weight`: {self._unknown(strange[0])}")
        return {self._numbers[label]: weight for label, weight in class_weight.items()}

    def _unknown(self, label, where=""):
        known = ", ".join(map(repr, self.classes))
        return (
            f"unknown label {label!r}{where}. The model knows the classes {known}. Correct it, or "
            "train a model that knows it."
        )


def labelled_rows(x: Any, y: Any, sample_weight: Any) -> tuple[Any, list, Any]:
    """Texts, their labels as a list, and their weights; raises unless there are as many."""
    y, sample_weight = label_list(y), weight_array(sample_weight)
    check_lengths(x, y, sample_weight)
    return x, y, sample_weight


def encode_batches(x: Any, y: Any, labels: Labels) -> tuple[Any, Any]:
    """Turns labels into class numbers: `y` of inputs in memory, else those in the stream `x`."""
    if not is_stream(x):
        return x, labels.encode(y)
    if isinstance(x, tf.data.Dataset):
        encode = labels.encode_tensor
        return x.map(lambda text, label, *weight: (text, encode(label), *weight)), y
    encode = labels.encode
    return map_batches(x, lambda batch: (batch[0], encode(batch[1]), *batch[2:])), y


def check_class_weight(class_weight):
    """Raises unless `class_weight` is None or a dict from labels to numbers >= 0.

    Raises:
        TypeError: it is no dict.
        ValueError: a weight is no such number.
    """
    if class_weight is None:
        return
    if not isinstance(class_weight, dict):
        raise TypeError(
            "`class_weight` must be a dict from label to weight, as {'spam': 3.0, 'ham': 1.0}. "
            f"Received: {class_weight!r}."
        )
    for label, weight in class_weight.items():
        is_number = isinstance(weight, (int, float, np.number)) and not isinstance(weight, bool)
        if not is_number or not 0 <= weight < np.inf:
            raise ValueError(
                f"`class_weight` must hold numbers >= 0. Received: {weight!r} for {label!r}."
            )


@contextlib.contextmanager
def readable_label_errors():
    """Turns the TensorFlow error that `encode_tensor` ends in back into its ValueError."""
    try:
        yield
    except (tf.errors.InvalidArgumentError, tf.errors.UnknownError) as error:
        message = re.search(r"ValueError: (.*)", str(error))
        if message is None:
            raise
        raise ValueError(message[1]) from None


def label_list(y, name="y"):
    """Labels in any container as a list of Python strings, bools, ints or floats.

    Args:
        y: list, tuple, array, pandas Series, one-column DataFrame or tensor of n labels.
        name: the argument's name, for error texts.

    Raises:
        TypeError: no labels given, or a label of another type.
        ValueError: more than one label a row, a missing label, or a number that is not whole.
    """
    if y is None:
        raise TypeError(f"`{name}` must hold one label for each text. Received: None.")
    array = np.asarray(y, dtype=object) if isinstance(y, (list, tuple)) else np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(
            f"`{name}` must hold one label a row. Received: shape {array.shape}. "
            "Turn one-hot rows into labels with `argmax(axis=1)`."
        )
    return [_label(value, row, name) for row, value in enumerate(array.tolist())]


def _label(value, row, name):
    value = value.item() if isinstance(value, np.generic) else value
    value = value.decode("utf-8") if isinstance(value, bytes) else value
    missing = value is None or type(value).__name__ in ("NAType", "NaTType")
    if missing or (isinstance(value, float) and np.isnan(value)):
        raise ValueError(f"`{name}` has no label in row {row}. Fill it in, or drop the row.")
    if not isinstance(value, (str, bool, int, float)):
        raise TypeError(
            f"`{name}` must hold strings, bools or numbers. "
            f"Received in row {row}: {type(value).__name__}."
        )
    if isinstance(value, str) and value.endswith("\0"):
        raise ValueError(
            f"`{name}` must hold labels that do not end in NUL, which NumPy would cut off. "
            f"Received in row {row}: {value!r}. Strip it."
        )
    if isinstance(value, float) and not value.is_integer():
        raise ValueError(
            f"`{name}` must hold classes, and numbers must be whole. Received {value} in row {row}."
        )
    return value
