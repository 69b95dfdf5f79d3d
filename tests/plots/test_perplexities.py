import csv

import numpy as np
import pytest

from keras_elmo.plots import perplexity
from keras_elmo.pretraining.training_log import FIELDS

DIRECTIONS = ("forward", "backward", "combined")


def rows(n=6, held_out=True):
    """Rows of a log with an evaluation at each second one."""
    found = []
    for k in range(1, n + 1):
        row = {"step": 50 * k, "training_loss_forward": 7 / k, "training_loss_backward": 7.1 / k}
        if held_out and k % 2 == 0:
            row |= {f"held_out_{d}": 900.0 / k + i for i, d in enumerate(DIRECTIONS)}
        found.append(row)
    return found


@pytest.fixture
def log(tmp_path):
    with open(tmp_path / "training.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows())
    return tmp_path / "training.csv"


def test_a_log_its_directory_its_rows_and_its_columns_are_the_same(log, check_whole):
    names = ("step", "training_loss_forward", "training_loss_backward")
    names += tuple(f"held_out_{d}" for d in DIRECTIONS)
    columns = {name: [row.get(name) for row in rows()] for name in names}
    for source in (log, str(log.parent), rows(), columns):
        figure = perplexity(source)
        held_out, loss = figure.axes
        lines = [line.get_xydata().tolist() for line in held_out.get_lines()]
        assert lines[2] == [[100, 452], [200, 227], [300, 152]]
        assert loss.get_lines()[1].get_xydata()[0].tolist() == [50, 7.1]
        assert loss.get_xlabel() == "step"
        check_whole(figure)
    assert held_out.get_legend().get_texts()[0].get_text() == "forward, at the end 150.0"


@pytest.mark.parametrize(
    ("tokens", "last", "name"),
    [
        (1, 300, "tokens trained on"),
        (100_000, 30, "tokens trained on (millions)"),
    ],
)
def test_tokens_may_be_the_axis(tokens, last, name):
    axes = perplexity(rows(), tokens_per_step=tokens).axes[-1]
    assert axes.get_xlabel() == name
    assert axes.get_lines()[0].get_xdata()[-1] == last


def test_without_held_out_text_there_is_the_loss_only(check_whole):
    figure = perplexity(rows(200, held_out=False))
    assert len(figure.axes) == 1
    assert "Training loss" in figure.get_suptitle()
    assert np.isfinite(figure.axes[0].get_lines()[1].get_ydata()).all()
    check_whole(figure)


def test_an_empty_or_a_missing_log_is_an_error(tmp_path):
    for log in ([], [{"loss": 1.0}], {"step": []}):
        with pytest.raises(ValueError, match="rows with a step"):
            perplexity(log)
    with pytest.raises(FileNotFoundError, match="training.csv"):
        perplexity(tmp_path)
