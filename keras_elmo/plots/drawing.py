"""What the pictures share: figures, colours, markers, lines."""

import numpy as np

# Okabe and Ito's colours, which people with any kind of colour vision tell apart, without yellow.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")  # 8 beside 7 colours: 56 pairs
LINES = ("-", "--", "-.", ":")
GRAY = "#777777"
SIZE = (6.0, 4.0)
SMOOTHED = 40  # a line over single steps is smoothed to about so many points


def check_matplotlib():
    """Raises an ImportError that tells what to install where matplotlib is not."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f'Pictures need matplotlib ({error}). Install it: pip install "keras_elmo[plots]"'
        ) from None


def new_picture(size=SIZE):
    """An empty figure of a size in inches, laid out when it is drawn."""
    check_matplotlib()
    from keras_elmo.plots.picture import Picture

    return Picture(figsize=size, layout="constrained")


def style(number):
    """Colour and line of the series with a number, as keyword arguments of `Axes.plot`."""
    return {"color": COLORS[number % len(COLORS)], "linestyle": LINES[number % len(LINES)]}


def finish(axes, x, y):
    """Names the axes, and takes off what only frames them."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def whole_ticks(axes):
    """Puts ticks of the x axis at whole numbers only, with commas between thousands."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))


def plot_steps(axes, steps, values, number=0, label=None):
    """A line of n noisy values over n steps: each pale, their running mean above it.

    The `number` of the series gives colour and line, `label` its name in the legend.
    """
    window = max(1, len(steps) // SMOOTHED)
    look = style(number)
    if window > 1:
        axes.plot(steps, values, color=look["color"], alpha=0.25, linewidth=0.8)
        values = running_mean(values, window)
    marker = "o" if len(steps) == 1 else None
    axes.plot(steps, values, **look, marker=marker, linewidth=1.8, label=label)


def running_mean(values, window):
    """The mean over a value and its neighbours, `window` on each side where there are so many."""
    values = np.asarray(values, np.float64)
    sums = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(len(values))
    low, high = np.maximum(at - window, 0), np.minimum(at + window + 1, len(values))
    return (sums[high] - sums[low]) / (high - low)
