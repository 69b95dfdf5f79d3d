"""How a biLM gets better in pretraining."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from keras_elmo.plots.drawing import finish, new_picture, plot_steps, style, whole_ticks
from keras_elmo.pretraining.training_log import read_log

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DIRECTIONS = ("forward", "backward", "combined")


def perplexity(
    log: str | os.PathLike | Sequence[Mapping] | Mapping[str, Sequence],
    tokens_per_step: float | None = None,
) -> "Figure":
    """Draws held-out perplexity and training loss of a pretraining, forward and backward.

    Without held-out text there is one panel, the loss.

    Args:
        log: path of `training.csv`, which `keras_elmo-train bilm` writes, or of the directory
            that it lies in; or a list of its rows, dicts; or a dict of its columns.
        tokens_per_step: number of tokens that a step trains on, for an axis of tokens; None for
            an axis of steps.

    Raises:
        FileNotFoundError: there is no such log.
        ValueError: it holds no row with a step and a loss.

    Example:

    >>> rows = [{"step": 10, "training_loss_forward": 6.5, "training_loss_backward": 6.6}]
    >>> len(perplexity(rows).axes)
    1
    """
    columns = _columns(log)
    losses = {d: columns.get(f"training_loss_{d}") for d in DIRECTIONS[:2]}
    held_out = {d: columns.get(f"held_out_{d}") for d in DIRECTIONS}
    held_out = {d: values for d, values in held_out.items() if values is not None}
    x, x_name = _x_axis(columns["step"], tokens_per_step)
    has_held_out = any(np.isfinite(values).any() for values in held_out.values())
    picture = new_picture()
    panels = picture.subplots(1 + has_held_out, 1, sharex=True, squeeze=False).ravel()
    if has_held_out:
        _draw_held_out(panels[0], x, held_out)
    for number, (direction, values) in enumerate(losses.items()):
        if values is not None:
            plot_steps(panels[-1], x, values, number, direction)
    finish(panels[-1], x_name, "training loss\n(nats a token)")
    whole_ticks(panels[-1])
    panels[-1].legend(frameon=False, fontsize=9)
    what = "Held-out perplexity and training loss" if has_held_out else "Training loss"
    picture.suptitle(f"{what} of the biLM")
    return picture


def _draw_held_out(axes, x, held_out):
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for number, (direction, values) in enumerate(held_out.items()):
        known = np.isfinite(values)
        label = f"{direction}, at the end {values[known][-1]:,.1f}" if known.any() else direction
        axes.plot(x[known], values[known], **style(number), marker="os^"[number], markersize=4,
                  linewidth=1.5, label=label)  # fmt: skip
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    finish(axes, "", "held-out\nperplexity (log scale)")
    axes.legend(frameon=False, fontsize=9)


def _columns(log):
    """The columns of a log as float arrays, nan where a row has no value."""
    rows = log
    if isinstance(log, (str, os.PathLike)):
        rows = read_log(_log_file(log))
    elif isinstance(log, dict):
        rows = [dict(zip(log, row, strict=True)) for row in zip(*log.values(), strict=True)]
    if not rows or any("step" not in row for row in rows):
        raise ValueError(
            "`log` must hold rows with a step, as training.csv of `keras_elmo-train bilm` does. "
            f"Received: {log!r:.100}, {len(rows)} rows. Train at least to the first report."
        )
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: np.array([_number(row.get(name)) for row in rows]) for name in names}


def _log_file(path):
    path = os.path.join(path, "training.csv") if os.path.isdir(path) else os.fspath(path)
    if not os.path.isfile(path):
        raise FileNotFoundError(
            f"There is no log {path}. Give the training.csv of `keras_elmo-train bilm`, or its "
            "directory."
        )
    return path


def _number(value):
    return float("nan") if value in (None, "") else float(value)


def _x_axis(steps, tokens_per_step):
    if tokens_per_step is None:
        return steps, "step"
    tokens = steps * tokens_per_step
    for size, name in ((1e9, "billions"), (1e6, "millions"), (1e3, "thousands")):
        if tokens.max() >= 20 * size:
            return tokens / size, f"tokens trained on ({name})"
    return tokens, "tokens trained on"
