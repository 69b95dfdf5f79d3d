"""Vectors in two dimensions."""

import collections
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from keras_elmo.plots.drawing import COLORS, GRAY, MARKERS, finish, new_picture
from keras_elmo.plots.lettering import label_of, readable, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_LABELS = 20
MOST_TEXTS = 400
LONGEST_TEXT = 32
TEXT_SIZE = 7.0
OTHERS = "other labels"


def sense_map(vectors: ArrayLike, labels: Sequence, texts: Sequence[str] | None = None) -> "Figure":
    """Draws vectors by their first two principal components, a colour and a marker for each label.

    The texts are written beside their points where they cover nothing. Of more than 20 labels the
    most frequent have a colour of their own.

    Args:
        vectors: float (n, D), at least one.
        labels: n labels of any type.
        texts: n short str, or None.

    Raises:
        ValueError: lengths differ, or a number is not finite.

    Example:

    >>> figure = sense_map(np.eye(4), ["river", "river", "money", "money"])
    >>> figure.axes[0].get_xlabel()
    'component 1 (33 % of the variance)'
    """
    vectors, labels = _checked(vectors, labels, texts)
    places, shares = principal_components(vectors)
    picture = new_picture()
    axes = picture.subplots()
    _draw_points(picture, axes, places, labels)
    for name, share, axis in zip("12", shares, (axes.xaxis, axes.yaxis), strict=True):
        axis.set_label_text(f"component {name} ({share:.0%} of the variance)".replace("%", " %"))
    finish(axes, axes.get_xlabel(), axes.get_ylabel())
    axes.margins(0.08)
    points = "1 vector" if len(places) == 1 else f"{len(places):,} vectors"
    picture.suptitle(f"{points} by their first two principal components")
    if texts is not None:
        _write_texts(picture, axes, places, texts)
    return picture


def principal_components(vectors: ArrayLike, n: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates `(m, n)` of m vectors along principal components, and their shares of variance.

    They are 0 where vectors have fewer dimensions. The largest coordinate of a component is
    positive.
    """
    centered = np.asarray(vectors, np.float64)
    centered = centered - centered.mean(axis=0)
    left, values, _ = np.linalg.svd(centered, full_matrices=False)
    largest = np.abs(left).argmax(axis=0)
    left = left * np.where(left[largest, np.arange(len(values))] < 0, -1.0, 1.0)
    places, shares = np.zeros((len(centered), n)), np.zeros(n)
    found = min(n, len(values))
    places[:, :found] = (left * values)[:, :found]
    shares[:found] = values[:found] ** 2 / max((values**2).sum(), np.finfo(float).tiny)
    return places, shares


def _checked(vectors, labels, texts):
    vectors, labels = np.asarray(vectors, np.float64), list(labels)
    if vectors.ndim != 2 or not vectors.size or not np.isfinite(vectors).all():
        raise ValueError(
            "`vectors` must be finite numbers (n, D), at least one vector. Received: shape "
            f"{vectors.shape}; give them without NaN and infinity."
        )
    for name, values in (("labels", labels), ("texts", texts)):
        if values is not None and len(values) != len(vectors):
            raise ValueError(
                f"`{name}` must be one for each of the {len(vectors)} vectors. Received: "
                f"{len(values)}."
            )
    return vectors, labels


def _draw_points(picture, axes, places, labels):
    counts = collections.Counter(labels)
    kept = [label for label, _ in counts.most_common()]
    kept = kept if len(kept) <= MOST_LABELS else kept[: MOST_LABELS - 1]
    names = []
    for number, label in enumerate(kept):
        rows = [row for row, other in enumerate(labels) if other == label]
        _scatter(axes, places[rows], COLORS[number % len(COLORS)], MARKERS[number % len(MARKERS)])
        names.append(f"{label_of(label, number + 1)} ({len(rows)})")
    rest = [row for row, label in enumerate(labels) if label not in set(kept)]
    if rest:
        _scatter(axes, places[rest], GRAY, ".")
        names.append(label_of(f"{OTHERS} ({len(rest)})", 0))
    _write_legend(picture, axes, names)


def _scatter(axes, places, color, marker):
    axes.scatter(*places.T, c=color, marker=marker, s=26, alpha=0.8, linewidths=0.5,
                 edgecolors="white")  # fmt: skip


def _write_legend(picture, axes, names):
    legend = picture.legend(
        axes.collections, [" "] * len(names), loc="outside right center", fontsize=8, frameon=False
    )
    for entry, name in zip(legend.get_texts(), names, strict=True):
        write(entry, name)


def _write_texts(picture, axes, places, texts):
    """Writes each text right, left, above or below its point, or not at all."""
    picture.draw_without_rendering()
    points = axes.transData.transform(places)
    taken = Boxes(np.concatenate([points - 4, points + 4], axis=1))
    frame = axes.get_window_extent()
    for row in range(min(len(texts), MOST_TEXTS)):
        text = readable(str(texts[row]), LONGEST_TEXT)
        if text:
            _write_beside(axes, places[row], text, taken, frame)


SIDES = (
    ((5, 0), "left", "center"),
    ((-5, 0), "right", "center"),
    ((0, 5), "center", "bottom"),
    ((0, -5), "center", "top"),
)


def _write_beside(axes, place, text, taken, frame):
    artist = axes.annotate("", place, xytext=(0, 0), textcoords="offset points", color="#333333")
    write(artist, text, TEXT_SIZE)
    artist.set_in_layout(False)
    for offset, horizontal, vertical in SIDES:
        artist.set(position=offset, ha=horizontal, va=vertical)
        box = artist.get_window_extent(axes.figure.canvas.get_renderer())
        is_inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0
        if is_inside and box.y1 <= frame.y1 and taken.is_free(box.extents):
            taken.add(box.extents)
            return
    artist.remove()


class Boxes:
    """Rectangles, rows of (x0, y0, x1, y1), and whether another one meets any of them."""

    def __init__(self, boxes):
        self.boxes = np.asarray(boxes, np.float64).reshape(-1, 4)

    def is_free(self, box):
        """Whether a rectangle meets none of them."""
        x0, y0, x1, y1 = box
        apart = (self.boxes[:, 0] >= x1) | (self.boxes[:, 2] <= x0)
        apart |= (self.boxes[:, 1] >= y1) | (self.boxes[:, 3] <= y0)
        return bool(apart.all())

    def add(self, box):
        """Adds a rectangle."""
        self.boxes = np.vstack([self.boxes, box])
