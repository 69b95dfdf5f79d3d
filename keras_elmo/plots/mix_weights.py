"""What a task takes from which layer of the biLM."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from keras_elmo.plots.drawing import COLORS, GRAY, SIZE, finish, new_picture, style, whole_ticks
from keras_elmo.plots.lettering import label_of, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AXIS = "weight (sum of all: 1)"
BEHIND = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}  # so that no line crosses text


def layer_weights(
    weights: ArrayLike,
    names: Sequence[str] | None = None,
    gamma: ArrayLike | None = None,
    steps: Sequence[int] | None = None,
) -> "Figure":
    """Draws the weights of the mix: bars for one set of them, lines for their way over training.

    Args:
        weights: numbers (L+1,), as `ELMoEmbedding.layer_weights`; or (n, L+1) for n steps, as
            `MixHistory.layer_weights`.
        names: L+1 names of the layers; None for "token vectors", "LSTM layer 1" ...
        gamma: number, or (n,) of them: the scale. Over training it is drawn in a second panel.
        steps: (n,) whole numbers, the steps that the rows of `weights` belong to; None counts 1
            to n.

    Raises:
        ValueError: shapes do not fit, or weights have not the sum 1.

    Example:

    >>> figure = layer_weights([0.2, 0.5, 0.3])
    >>> [label.get_text() for label in figure.axes[0].get_xticklabels()]
    ['token vectors', 'LSTM layer 1', 'LSTM layer 2']
    """
    weights = np.asarray(weights, np.float64)
    if weights.ndim not in (1, 2) or not weights.size:
        raise ValueError(
            "`weights` must be (L+1,) numbers, or (steps, L+1). Received: shape "
            f"{weights.shape}. Of several mixes give one at a time."
        )
    if not np.isfinite(weights).all() or not np.allclose(weights.sum(-1), 1, atol=1e-3):
        raise ValueError(
            "`weights` must be finite and have the sum 1, as `ELMoEmbedding.layer_weights`. "
            f"Received: {np.array2string(weights, precision=3, threshold=8)}."
        )
    names = _names(names, weights.shape[-1])
    if weights.ndim == 1:
        return _bars(weights, names, gamma)
    gamma, steps = _columns(weights, gamma=gamma, steps=steps)
    return _lines(weights, names, gamma, steps)


def _names(names, n):
    if names is None:
        names = ["token vectors", *(f"LSTM layer {layer}" for layer in range(1, n))]
    if len(names) != n:
        raise ValueError(
            f"`names` must be one for each of the {n} layers. Received: {len(names)}, {names}."
        )
    return [label_of(name, place + 1, longest=20) for place, name in enumerate(names)]


def _columns(weights, **columns):
    for name, values in columns.items():
        if values is not None and np.shape(values) != (len(weights),):
            raise ValueError(
                f"`{name}` must be one number for each of the {len(weights)} steps of `weights`. "
                f"Received: shape {np.shape(values)}."
            )
    steps = columns["steps"]
    return columns["gamma"], range(1, len(weights) + 1) if steps is None else steps


def _bars(weights, names, gamma):
    picture = new_picture((max(SIZE[0], 0.5 * len(names)), SIZE[1]))
    axes = picture.subplots()
    places = np.arange(len(weights))
    bars = axes.bar(places, weights, color=COLORS[0], width=0.6)
    axes.bar_label(bars, fmt="%.3f", padding=2, bbox=BEHIND)
    axes.set_xticks(places, names, rotation=0 if len(names) <= 4 else 90)
    for label, name in zip(axes.get_xticklabels(), names, strict=True):
        write(label, name)
    _mark_plain_mean(axes, len(weights))
    finish(axes, "layer of the biLM", AXIS)
    axes.grid(False, axis="x")
    axes.set_ylim(0.0, 1.15 * max(weights.max(), 1.2 / len(weights)))
    axes.legend(frameon=False)
    scale = "" if gamma is None else f", times gamma {float(gamma):.3f}"
    picture.suptitle(f"Weights of the layers{scale}")
    return picture


def _lines(weights, names, gamma, steps):
    picture = new_picture()
    ratios = {"height_ratios": [2.4, 1.0]}
    panels = picture.subplots(2, 1, sharex=True, gridspec_kw=ratios) if gamma is not None else None
    axes = picture.subplots() if panels is None else panels[0]
    marker = "o" if len(weights) == 1 else None
    for layer, column in enumerate(weights.T):
        axes.plot(steps, column, **style(layer), marker=marker, linewidth=1.8, label=" ")
    _mark_plain_mean(axes, len(names))
    finish(axes, "step" if panels is None else "", AXIS)
    whole_ticks(axes)
    legend = axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=9)
    for entry, name in zip(legend.get_texts(), names, strict=False):
        write(entry, name)
    if panels is not None:
        panels[1].plot(steps, gamma, color=GRAY, marker=marker, linewidth=1.8)
        finish(panels[1], "step", "gamma\n(factor)")
        whole_ticks(panels[1])
    scale = "" if gamma is None else " and scale"
    picture.suptitle(f"Weights of the layers{scale} over training")
    return picture


def _mark_plain_mean(axes, n):
    axes.axhline(1.0 / n, color=GRAY, linestyle=":", linewidth=1.2, label="plain mean")
