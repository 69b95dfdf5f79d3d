"""How a classifier did on its test part: accuracy, F1, confusion table, mistakes."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Evaluation:
    """True labels and predicted probabilities of a test part.

    Args:
        classes: tuple of labels, in the order of the columns of `probabilities`.
        true: list of n labels.
        probabilities: float (n, n_classes).
    """

    classes: tuple
    true: list
    probabilities: np.ndarray

    @property
    def predicted(self):
        """The most probable label of every row, a list."""
        return [self.classes[number] for number in self.probabilities.argmax(axis=1)]

    @property
    def confusion(self):
        """How often each class (row) was taken for each class (column), int (classes, classes)."""
        table = np.zeros((len(self.classes),) * 2, int)
        for true, predicted in zip(self.true, self.predicted, strict=True):
            table[self.classes.index(true), self.classes.index(predicted)] += 1
        return table

    @property
    def accuracy(self):
        """The share of right rows."""
        return float(np.trace(self.confusion) / len(self.true))

    @property
    def baseline(self):
        """The most frequent label, and the accuracy of always giving it."""
        counts = self.confusion.sum(axis=1)
        return self.classes[counts.argmax()], float(counts.max() / len(self.true))

    def f1(self, label):
        """2 TP / (2 TP + FP + FN) of one class; 0 where it neither occurs nor is predicted."""
        table, at = self.confusion, self.classes.index(label)
        total = table[at].sum() + table[:, at].sum()
        return float(2 * table[at, at] / total) if total else 0.0

    def mistakes(self):
        """(row, true, predicted, probability of predicted) of every wrong row."""
        highest = self.probabilities.max(axis=1)
        rows = zip(self.true, self.predicted, highest, strict=True)
        return [(i, t, p, float(q)) for i, (t, p, q) in enumerate(rows) if t != p]

    def confusion_text(self):
        """The confusion table for people: true classes down, predicted ones across."""
        names = [str(label) for label in self.classes]
        corner = "true, predicted"
        width = max(len(corner), *map(len, names))
        lines = [f"{corner:<{width}}" + "".join(f"  {name:>6}" for name in names)]
        for name, row in zip(names, self.confusion, strict=True):
            cells = (f"  {n:>{max(6, len(column))}}" for n, column in zip(row, names, strict=True))
            lines.append(f"{name:<{width}}" + "".join(cells))
        return "\n".join(lines)
