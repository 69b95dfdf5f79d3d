"""Which classes are taken for which."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from keras_elmo.plots.drawing import SIZE, new_picture
from keras_elmo.plots.lettering import label_of, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 50
FEW = 12  # so many classes fit the usual size
CELL = 0.34  # inches of a cell of more classes
WIDTH_OF_DIGIT = 0.62  # of its height
NAME_SIZE = 8.0


def confusion(matrix: ArrayLike, classes: Sequence) -> "Figure":
    """Draws a confusion table: counts in the cells, shares of the true class as colour.

    The picture grows with the number of classes. Of more than 50 the most frequent are drawn and
    the rest is summed up in one. A name whose letters no font of the system has is written as its
    place, `#3` for the third.

    Args:
        matrix: int (n, n), how often each class (row) was taken for each class (column).
        classes: n labels of any type.

    Raises:
        ValueError: shapes do not fit, or a count is below 0.

    Example:

    >>> figure = confusion([[50, 2], [3, 20]], ["ham", "spam"])
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['ham', 'spam']
    """
    matrix, names = _checked(matrix, classes)
    total, right = int(matrix.sum()), int(np.trace(matrix))
    matrix, names = _most_frequent(matrix, names)
    picture = new_picture(_size(names))
    axes = picture.subplots()
    shares = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    image = axes.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
    picture.colorbar(image, ax=axes, label="share of the true class", shrink=0.8, pad=0.02)
    _write_names(axes, names)
    _write_counts(picture, axes, matrix, shares)
    picture.suptitle(
        f"True and predicted classes: {right:,} of {total:,} right ({right / max(total, 1):.1%})"
    )
    return picture


def _checked(matrix, classes):
    matrix, classes = np.asarray(matrix), list(classes)
    n = len(classes)
    if matrix.shape != (n, n) or not n:
        raise ValueError(
            "`matrix` must have a row and a column for each of the classes. Received: shape "
            f"{matrix.shape}, {n} classes."
        )
    if matrix.dtype.kind not in "iu" or matrix.min() < 0:
        raise ValueError(
            "`matrix` must hold counts, whole numbers >= 0. Received: "
            f"dtype {matrix.dtype}, smallest {matrix.min()}."
        )
    return matrix, [label_of(label, place + 1) for place, label in enumerate(classes)]


def _most_frequent(matrix, names):
    """The table with its rare classes, beyond `MOST`, summed up in one."""
    if len(names) <= MOST:
        return matrix, names
    frequency = matrix.sum(axis=0) + matrix.sum(axis=1)
    kept = np.sort(np.argsort(-frequency, kind="stable")[: MOST - 1])
    rest = np.setdiff1d(np.arange(len(names)), kept)
    groups = np.zeros((MOST, len(names)), matrix.dtype)
    groups[np.arange(MOST - 1), kept] = 1
    groups[-1, rest] = 1
    others = label_of(f"{len(rest)} others", MOST)
    return groups @ matrix @ groups.T, [*(names[at] for at in kept), others]


def _size(names):
    """Inches: the usual size for few classes, else `CELL` a class beside the names."""
    if len(names) <= FEW:
        return SIZE
    margin = max(map(len, names)) * NAME_SIZE * WIDTH_OF_DIGIT / 72
    return CELL * len(names) + margin + 1.6, CELL * len(names) + margin + 1.0


def _write_names(axes, names):
    places = range(len(names))
    look = {}
    if len(names) > FEW:
        look = {"rotation": 90}
    elif len(names) > 4 or max(map(len, names)) > 10:
        look = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"}
    axes.set_xticks(places, names, **look)
    axes.set_yticks(places, names)
    for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
        for label, name in zip(labels, names, strict=True):
            write(label, name, NAME_SIZE if len(names) > 4 else None)
    axes.set_xlabel("predicted class")
    axes.set_ylabel("true class")
    axes.tick_params(length=0)


def _write_counts(picture, axes, matrix, shares):
    """The counts, as large as the cells allow; zeros only where there are few."""
    picture.draw_without_rendering()
    cell = axes.get_window_extent().width / picture.dpi * 72 / len(matrix)
    digits = len(f"{matrix.max():,}")
    size = max(4.0, min(10.0, 0.9 * cell / (digits * WIDTH_OF_DIGIT)))
    for row, column in np.ndindex(matrix.shape):
        if matrix[row, column] or len(matrix) <= FEW:
            color = "white" if shares[row, column] > 0.55 else "black"
            text = f"{matrix[row, column]:,}"
            axes.text(column, row, text, ha="center", va="center", fontsize=size, color=color)
