"""Loss and accuracy while a model learns."""

from typing import TYPE_CHECKING, Any

import numpy as np

from keras_elmo.plots.drawing import SIZE, finish, new_picture, plot_steps, style, whole_ticks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEFT_OUT = ("learning_rate", "lr")


def learning_curves(history: Any, loss_unit: str | None = None) -> "Figure":
    """Draws loss, accuracy and what else was measured, of training and validation.

    A `MixHistory` is drawn by step: each step's values pale, their running mean, and the values of
    training and validation at the ends of epochs. Anything else is drawn by epoch.

    Args:
        history: what `fit` returned, a dict of lists as its `history`, or a
            `keras_elmo.MixHistory`.
        loss_unit: unit of the loss for its axis, as `"nats"`; None names none.

    Raises:
        ValueError: there is nothing to draw.

    Example:

    >>> figure = learning_curves({"loss": [0.7, 0.4], "val_loss": [0.6, 0.5]}, loss_unit="nats")
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['loss (nats)']
    """
    is_by_step = hasattr(history, "steps")
    steps = history.steps if is_by_step else []
    by_step = history.metrics if is_by_step else {}
    by_epoch = getattr(history, "history", history)
    names = _names(by_epoch, by_step)
    picture = new_picture(_size(len(names)))
    grid = picture.subplots(-(-len(names) // 2), min(2, len(names)), squeeze=False).ravel()
    ends = history.epoch_ends if is_by_step else None
    for name, axes in zip(names, grid, strict=False):
        if name in by_step:
            plot_steps(axes, steps, by_step[name], label="training")
        _draw_epochs(axes, name, by_epoch, ends)
        finish(axes, "step" if is_by_step else "epoch", _axis_name(name, loss_unit))
        whole_ticks(axes)
    for axes in grid[len(names) :]:
        axes.remove()
    _write_legend(picture)
    picture.suptitle(f"{_title(names)}, {'step by step' if is_by_step else 'epoch by epoch'}")
    return picture


def _names(by_epoch, by_step):
    """The measures, the loss first."""
    every = [*by_step, *(name.removeprefix("val_") for name in by_epoch)]
    names = [name for name in dict.fromkeys(every) if name not in LEFT_OUT]
    if not any(len(by_epoch.get(name, by_step.get(name, ()))) for name in names):
        raise ValueError(
            "`history` must hold the loss of at least one epoch or step. Received: "
            f"{dict(by_epoch)!r:.100}. Train the model first."
        )
    return sorted(names, key=lambda name: name != "loss")


def _size(n):
    return SIZE if n <= 2 else (SIZE[0], 3.0 * -(-n // 2))


def _draw_epochs(axes, name, by_epoch, ends):
    """The values of whole epochs; on a picture by step these are points at their ends."""
    for number, (key, label) in enumerate(((name, "training"), (f"val_{name}", "validation"))):
        values = np.asarray(by_epoch.get(key, ()), np.float64)
        if not len(values):
            continue
        look = {**style(number), "marker": "os"[number], "markersize": 5}
        if ends is None:
            axes.plot(np.arange(1, len(values) + 1), values, **look, linewidth=1.8, label=label)
        else:
            look["linestyle"] = "-" if number else "none"
            label = label if number else "training, mean of the epoch"
            axes.plot(ends[-len(values) :], values, **look, linewidth=1.2, label=label)


def _write_legend(picture):
    """One legend for all panels, below them."""
    entries = {}
    for axes in picture.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    picture.legend(
        list(entries.values()), list(entries), loc="outside lower center", ncols=3, frameon=False
    )


def _axis_name(name, loss_unit):
    if name == "loss":
        return f"loss ({loss_unit})" if loss_unit else "loss"
    name = name.replace("_", " ")
    return f"{name} (share right)" if name.endswith("accuracy") else name


def _title(names):
    shown = " and ".join(name.replace("_", " ") for name in names[:2])
    return shown[0].upper() + shown[1:] + (" and more" if len(names) > 2 else "")
