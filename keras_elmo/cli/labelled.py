"""What the commands share that train a model on labels, test it and report."""

import abc
import argparse
import json
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keras_elmo import __version__
from keras_elmo.basics import options
from keras_elmo.basics.files import whole_directory
from keras_elmo.cli.command import faults_of, written_to
from keras_elmo.cli.output import check_output
from keras_elmo.cli.plots import OF_TRAINING, add_plots, check_plots, training_figures, write_plots
from keras_elmo.cli.reading import SOURCE_HELP, check_source
from keras_elmo.cli.report import aligned
from keras_elmo_launcher import load_package

if TYPE_CHECKING:
    import numpy as np

FILES = MODEL_FILE, MISTAKES_FILE, METRICS_FILE = "model.keras", "mistakes.tsv", "metrics.json"


def add_model_options(group: Any, epochs: int, batch_size: int, rows: str) -> None:
    """Adds what a model is trained from and how; `rows` are what a step takes."""
    add = group.add_argument
    add("--source", default="english-small", help=SOURCE_HELP)
    add("--epochs", type=options.positive_int, default=epochs, metavar="N", help="training epochs")
    add(
        "--batch-size", type=options.positive_int, default=batch_size, metavar="N",
        help=f"{rows} a step",
    )  # fmt: skip
    add("--seed", type=options.seed, default=0, metavar="N", help="of weights and draws")


def add_output_options(group: Any, pictures: str = "") -> None:
    """Adds `--output`, `--overwrite`, `--plots`, with a remark on the pictures, and `--quiet`."""
    add = group.add_argument
    add("--output", metavar="DIR", help="directory for model and report; none: only print")
    add("--overwrite", action="store_true", help="replace the output of an earlier run")
    add_plots(group, f"{', '.join(OF_TRAINING)}{pictures}")
    add("--quiet", action="store_true", help="no progress bar")


@dataclass(frozen=True)
class Evaluation:
    """True labels and predicted probabilities of a test part, scored by scikit-learn.

    `probabilities` is float (n, n_classes), its columns in the order of `classes`.
    """

    classes: Sequence[str]
    true: Sequence[str]
    probabilities: "np.ndarray"

    @property
    def predicted(self) -> list[str]:
        """The most probable label of every row."""
        return [self.classes[number] for number in self.probabilities.argmax(axis=1)]

    @property
    def confusion(self) -> "np.ndarray":
        """How often each class (row) was taken for each class (column), int (classes, classes)."""
        from sklearn.metrics import confusion_matrix

        return confusion_matrix(self.true, self.predicted, labels=list(self.classes))

    @property
    def accuracy(self) -> float:
        """The share of right rows."""
        from sklearn.metrics import accuracy_score

        return float(accuracy_score(self.true, self.predicted))

    @property
    def baseline(self) -> tuple[str, float]:
        """The most frequent label, and the accuracy of always giving it."""
        counts = self.confusion.sum(axis=1)
        return self.classes[counts.argmax()], float(counts.max() / len(self.true))

    def f1(self, label: str) -> float:
        """2 TP / (2 TP + FP + FN) of one class; 0 where it neither occurs nor is predicted."""
        from sklearn.metrics import f1_score

        scores = f1_score(
            self.true, self.predicted, labels=[label], average=None, zero_division=0.0
        )
        return float(scores[0])

    def mistakes(self) -> list[tuple[int, str, str, float]]:
        """(row, true, predicted, probability of predicted) of every wrong row."""
        highest = self.probabilities.max(axis=1)
        rows = zip(self.true, self.predicted, highest, strict=True)
        return [(i, t, p, float(q)) for i, (t, p, q) in enumerate(rows) if t != p]

    def confusion_lines(self) -> list[str]:
        """The confusion table for people: true classes down, predicted ones across."""
        names = [str(label).rjust(6) for label in self.classes]
        rows = zip(self.classes, self.confusion.tolist(), strict=True)
        cells = [[str(label), *map(str, row)] for label, row in rows]
        return aligned([["true, predicted", *names], *cells], is_number=True)


def split_rows(
    labels: Sequence, test_fraction: float, shuffle: bool = False, stratify: bool = False,
    seed: int = 0,
) -> tuple[list[int], list[int]]:  # fmt: skip
    """Row numbers of the training and of the test part, each in file order.

    The first rows are for training where none are drawn; `stratify` draws the same share of every
    class, and raises a UserError where one is too small for that.
    """
    n_train = int(len(labels) * (1 - test_fraction) + 1e-9)
    rows = list(range(len(labels)))
    if not (shuffle or stratify) or n_train in (0, len(rows)):
        return rows[:n_train], rows[n_train:]
    from sklearn.model_selection import train_test_split

    with faults_of("--stratify" if stratify else "--shuffle"):
        train, test = train_test_split(
            rows, train_size=n_train, random_state=seed, stratify=labels if stratify else None
        )
    return sorted(train), sorted(test)


class LabelledRun(abc.ABC):
    """A run of such a command: reads, trains, tests, reports. Subclasses fill in what differs."""

    unit = "nats"  # of the loss, as the picture of it tells
    notice = ""  # of what goes before the first step
    learns_by_steps = True  # so that there is a history to draw
    train_rows: Sequence  # what the model learns from, and its labels
    train_labels: Sequence
    test_rows: Sequence
    true: Sequence[str]  # labels of the test part, one each

    def __init__(self, args: argparse.Namespace):
        self.args = args

    @abc.abstractmethod
    def read(self) -> None:
        """Reads and splits the data, before TensorFlow is loaded; raises a UserError."""

    @abc.abstractmethod
    def make(self) -> Any:
        """The model."""

    @abc.abstractmethod
    def data_lines(self) -> list[str]:
        """What to print of the data."""

    @abc.abstractmethod
    def metrics(self, evaluation: Evaluation) -> dict[str, Any]:
        """The part of `metrics.json` that depends on the kind of model."""

    @abc.abstractmethod
    def score_lines(self, metrics: dict[str, Any], evaluation: Evaluation) -> list[str]:
        """The scores for people."""

    @abc.abstractmethod
    def mistakes(self, evaluation: Evaluation) -> Iterable[Sequence]:
        """Rows of the file of mistakes, the names of its columns first."""

    def run(self) -> int:
        """Does all of it; returns the exit status."""
        started, args = time.perf_counter(), self.args
        if args.output is not None:
            check_output(args.output, args.overwrite, FILES)
        check_plots(args, OF_TRAINING, args.overwrite, [args.output])
        check_source("--source", args.source)
        self.read()
        load_package()
        seconds: dict[str, float] = {}
        model, history = self._train(seconds)
        evaluation = self._test(model, seconds)
        seconds["total"] = time.perf_counter() - started
        metrics = {**self.metrics(evaluation), **_common_metrics(evaluation, seconds)}
        times = ", ".join(f"{name} {value:.1f}" for name, value in seconds.items())
        print("\n".join([*self.score_lines(metrics, evaluation), f"seconds: {times}"]))
        if args.output is not None:
            self._write(model, metrics, evaluation)
        if args.plots is not None:
            print(write_plots(args, training_figures(history, evaluation, self.unit)))
        return 0

    def _train(self, seconds):
        import keras

        from keras_elmo.tasks.mix_history import MixHistory

        args = self.args
        keras.utils.set_random_seed(args.seed)
        with faults_of(f"--source {args.source}"):
            model = self.make()
        print("\n".join(self.data_lines()), flush=True)
        started = time.perf_counter()
        history = MixHistory() if args.plots is not None and self.learns_by_steps else None
        if self.notice and not args.quiet:
            print(self.notice, flush=True)
        model.fit(
            self.train_rows, self.train_labels, epochs=args.epochs, batch_size=args.batch_size,
            verbose=self._verbosity(), callbacks=[history] if history else None,
        )  # fmt: skip
        seconds["training"] = time.perf_counter() - started
        return model, history

    def _test(self, model, seconds):
        import numpy as np

        started = time.perf_counter()
        probabilities = model.predict_proba(self.test_rows, verbose=self._verbosity())
        if isinstance(probabilities, list):  # an array for each row, as of the tokens of sentences
            probabilities = np.concatenate(probabilities)
        seconds["test"] = time.perf_counter() - started
        return Evaluation(model.classes_, self.true, probabilities)

    def _verbosity(self):
        """Keras': a bar on a terminal, one line an epoch elsewhere, nothing when quiet."""
        if self.args.quiet:
            return 0
        return 1 if sys.stdout.isatty() else 2

    def _write(self, model, metrics, evaluation):
        """Writes model, mistakes and metrics into `--output`, all of them or none."""
        output = self.args.output
        check_output(output, self.args.overwrite, FILES)
        with written_to(f"--output: {output}"), whole_directory(output) as directory:
            model.save(directory / MODEL_FILE)
            write_rows(directory / MISTAKES_FILE, self.mistakes(evaluation))
            text = json.dumps(metrics, indent=2, ensure_ascii=False) + "\n"
            (directory / METRICS_FILE).write_text(text, encoding="utf-8")
        print(f"written to {Path(output)}: {', '.join(FILES)}")


def _common_metrics(evaluation, seconds):
    import keras
    import tensorflow as tf

    return {
        "classes": list(evaluation.classes),
        "confusion": evaluation.confusion.tolist(),
        "seconds": {name: round(value, 2) for name, value in seconds.items()},
        "versions": {
            "keras_elmo": __version__,
            "keras": keras.__version__,
            "tensorflow": tf.__version__,
        },
    }


def write_rows(path: Path, rows: Iterable[Sequence]) -> None:
    """Writes rows of fields, a line and tabs each."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        for row in rows:
            file.write("\t".join(map(_field, row)) + "\n")


def _field(value):
    text = f"{value:.4f}" if isinstance(value, float) else str(value)
    return " ".join(text.splitlines()).replace("\t", " ")
