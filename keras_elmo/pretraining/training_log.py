"""The log of a run: a CSV file, and TensorBoard events on request."""

import csv
import os
from typing import Any

from keras_elmo.basics.files import whole_file

LOG = "training.csv"
FIELDS = (
    "step",
    "epoch",
    "learning_rate",
    "training_loss_forward",
    "training_loss_backward",
    "tokens_per_second",
    "input_share",
    "held_out_forward",
    "held_out_backward",
    "held_out_combined",
)


class TrainingLog:
    """Appends rows to `training.csv` in a directory, made with the first; a context manager.

    Args:
        directory: where the log lies.
        done: steps done so far: later rows of an earlier process are dropped, since their steps
            will be taken again.
        tensorboard: directory of TensorBoard events, or None.
    """

    def __init__(self, directory: str, done: int = 0, tensorboard: str | None = None):
        self.path = os.path.join(directory, LOG)
        self.done = done
        self.tensorboard = tensorboard
        self._file: Any = None
        self._events: Any = None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for opened in (self._file, self._events):
            if opened is not None:
                opened.close()

    def write(self, row: dict) -> None:
        """Append a row, a dict of some of `FIELDS`."""
        if self._file is None:
            self._open()
        csv.DictWriter(self._file, FIELDS).writerow(row)
        self._file.flush()
        if self._events is not None:
            self._events.add_summary(_summary(row), row["step"])
            self._events.flush()

    def _open(self):
        """Opens the log behind the rows up to `done`; the rest is dropped, all of it or nothing."""
        rows = read_log(self.path) if self.done else []
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with (
            whole_file(self.path) as scratch,
            open(scratch, "w", newline="", encoding="utf-8") as file,
        ):
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(row for row in rows if row["step"] <= self.done)
        self._file = open(self.path, "a", newline="", encoding="utf-8")
        if self.tensorboard:
            import tensorflow as tf

            with tf.Graph().as_default():  # this writer of TensorFlow's own needs no TensorBoard
                self._events = tf.compat.v1.summary.FileWriter(self.tensorboard)


def _summary(row):
    import tensorflow as tf

    values = [
        tf.compat.v1.Summary.Value(tag=name, simple_value=row[name])
        for name in FIELDS[1:]
        if name in row
    ]
    return tf.compat.v1.Summary(value=values)


def read_log(path: str | os.PathLike) -> list[dict[str, float | None]]:
    """The rows of a log; none where there is no log, without one that is there in part."""
    if not os.path.isfile(path):
        return []
    with open(path, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if None not in row.values() and row["step"]]
    return [{name: _number(text) for name, text in row.items()} for row in rows]


def _number(text):
    """What a field holds; None where it is empty."""
    if not text:
        return None
    return int(text) if text.isdecimal() else float(text)
