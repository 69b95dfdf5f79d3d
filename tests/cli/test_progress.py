"""The end of a pretraining, and the picture that is drawn anew while it goes on."""

import types

import pytest

from keras_elmo import plots
from keras_elmo.cli import progress
from keras_elmo.cli.progress import PerplexityPicture, show_training
from keras_elmo.pretraining.run import Report


@pytest.fixture
def run(tmp_path):
    """A run of 40 steps that has taken some; its log has a line every 5 steps."""
    run = types.SimpleNamespace(
        output="out", writes=True, finished=False, out_of_patience=False, interrupted=False,
        without_gain=2, log_path="training.csv", ask_to_end=lambda: None,
        options=types.SimpleNamespace(steps=40, evaluate_every=10),
    )  # fmt: skip
    softmax = types.SimpleNamespace(softmax=types.SimpleNamespace(kind="full"))
    run.trainer = types.SimpleNamespace(done=0, positions_per_step=9, model=softmax)
    run.reports = lambda: (report_after(run, step) for step in range(5, 41, 5))
    return run


def report_after(run, step):
    run.trainer.done = step
    row = {"step": step, "epoch": 0.1, "learning_rate": 0.1, "training_loss_forward": 2.0}
    row |= {"training_loss_backward": 3.0, "tokens_per_second": 9, "input_share": 0.0}
    return Report(row, step, 40, 0.0)


@pytest.fixture
def drawn(monkeypatch):
    """The last step of the log at each drawing."""
    steps = []
    monkeypatch.setattr(
        progress, "read_log", lambda path: [{"step": step} for step in range(5, 41, 5)]
    )
    monkeypatch.setattr(plots, "perplexity", lambda rows, size: steps.append(rows[-1]["step"]))
    monkeypatch.setattr(plots, "save", lambda figure, path: path.write_text("drawn"))
    return steps


@pytest.fixture
def picture(run, tmp_path):
    args = types.SimpleNamespace(plots=str(tmp_path / "pictures"), plot_format="svg")
    return PerplexityPicture(args, run)


def test_it_is_drawn_as_often_as_evaluations_are_due_and_at_the_end(run, drawn, picture, capsys):
    assert show_training(run, picture) == 0
    assert drawn == [10, 20, 30, 40]
    assert picture.path.name == "perplexity.svg" and picture.path.read_text() == "drawn"
    run.trainer.done = 35
    picture.update(report_after(run, 35)._replace(evaluation=object()))
    assert drawn[-1] == 35  # after an evaluation always


def test_after_resuming_it_is_drawn_at_once(run, drawn, picture):
    run.trainer.done, run.reports = 20, lambda: ()
    assert show_training(run, picture) == 0
    assert drawn == [20]


def test_a_full_disk_ends_no_training_and_is_told_once(run, drawn, picture, monkeypatch, capsys):
    def save(figure, path):
        raise OSError("no space")

    monkeypatch.setattr(plots, "save", save)
    assert show_training(run, picture) == 0
    assert capsys.readouterr().err.count("cannot be written: no space") == 1


@pytest.mark.parametrize(
    ("state", "status", "told"),
    [
        ({"finished": True}, 0, "out: all 40 steps are done already"),
        ({"out_of_patience": True}, 0, "in 2 evaluations; a larger --patience goes on"),
        ({"interrupted": True}, 130, "after step 40 of 40: another machine was interrupted"),
        ({}, 0, "ended after step 40 of 40: no better perplexity in 2 evaluations\nwritten to out"),
        ({"writes": False}, 0, ""),
    ],
)
def test_what_is_told_at_the_end(state, status, told, run, capsys):
    for name, value in state.items():
        setattr(run, name, value)
    run.trainer.done = 40
    assert show_training(run) == status
    printed = capsys.readouterr().out
    assert told in printed if told else not printed
