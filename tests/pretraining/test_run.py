import itertools

import numpy as np
import pytest
import tensorflow as tf
from tiny_text import held_out

from keras_elmo.language_model.files import load_language_model
from keras_elmo.language_model.results import Evaluation
from keras_elmo.pretraining.options import PretrainingOptions
from keras_elmo.pretraining.run import Run
from keras_elmo.pretraining.trainer import StepResult
from keras_elmo.pretraining.training_log import read_log


class CountingTrainer:
    """Takes steps that change nothing but a counter; the model is a real one."""

    positions_per_step = 10

    class strategy:
        num_replicas_in_sync = 1

    def __init__(self, model, options):
        self.model = model
        self.options = options
        self.done = 0

    def step(self, stop=False):
        self.done += 1
        return StepResult(self.done, 0.5, 2.0, 3.0, 0.25, 0.05, stop)

    def state(self):
        return {"step": np.array(self.done)}

    def restore(self, arrays):
        self.done = int(arrays["step"])


@pytest.fixture
def make_run(make_model, tmp_path):
    def make(steps=100, text=(), settings=None, **options):
        every = {"report_every": 10, "evaluate_every": 20, "checkpoint_every": 30}
        held_out = "held-out.txt" if text else None
        options = PretrainingOptions(steps=steps, held_out=held_out, **every, **options)
        return Run(
            CountingTrainer(make_model(), options),
            str(tmp_path / "out"),
            list(text),
            positions=500,
            settings=settings or {"seed": 1},
        )

    return make


def perplexities(monkeypatch, values):
    """Lets the evaluations find these combined perplexities."""
    values = iter(values)
    monkeypatch.setattr(
        "keras_elmo.pretraining.run.evaluate",
        lambda *_: Evaluation(1.0, 2.0, next(values), 40, 99, 0.0),
    )


def test_reports_and_checkpoints_come_when_due(make_run):
    run = make_run()
    reports = list(run.reports())
    assert [report.step for report in reports] == list(range(10, 101, 10))
    assert [report.seconds_left for report in reports][-2:] == [2.5, 0.0]
    assert reports[3].row == {
        "step": 40, "epoch": 0.8, "learning_rate": 0.5, "training_loss_forward": 2.0,
        "training_loss_backward": 3.0, "tokens_per_second": 40, "input_share": 0.2,
    }  # fmt: skip
    names = [path.name for path in run.checkpoints.paths()]
    assert names == [f"step-{step:09d}.npz" for step in (60, 90, 100)]
    assert run.finished and list(run.reports()) == []


def test_output_holds_the_best_and_last_the_last(make_run, monkeypatch, tmp_path):
    perplexities(monkeypatch, [9.0, 7.0, 8.0, 7.5, 7.2])
    run = make_run(text=held_out())
    for report in run.reports():
        run.trainer.model.softmax.b.assign(np.full(9, float(report.step)))
        if report.evaluation:
            assert report.best == (report.step in (20, 40))
            assert report.row["held_out_combined"] == report.evaluation.combined
    # The biases are those that the report before each saving left.
    for place, step in (("out", 30), ("out/last", 90)):
        assert np.asarray(load_language_model(tmp_path / place).softmax.b)[0] == step
    assert run.checkpoints.newest()[0].notes == {
        "settings": {"seed": 1}, "best": [1.0, 2.0, 7.0, 40, 99, 0.0], "without_gain": 3,
    }  # fmt: skip


def test_patience_ends_the_run(make_run, monkeypatch):
    perplexities(monkeypatch, [9.0, 7.0, 8.0, 7.5])
    run = make_run(text=held_out(), patience=2)
    assert [report.step for report in run.reports()][-1] == 80
    assert not run.finished and not run.interrupted
    assert run.checkpoints.newest()[0].step == 80


def test_asked_to_stop_it_saves_without_measuring(make_run, monkeypatch, tmp_path):
    perplexities(monkeypatch, [])
    run = make_run(text=held_out())
    for report in run.reports():
        run.ask_to_end()
        last = report.step
    assert last == 11 and run.interrupted
    assert run.checkpoints.newest()[0].step == 11
    assert load_language_model(tmp_path / "out")


def test_resume_goes_on_with_count_and_log(make_run, monkeypatch, tmp_path):
    perplexities(monkeypatch, [9.0, 7.0, 8.0] + [8.0, 7.5, 6.0])
    first = make_run(text=held_out())
    list(itertools.takewhile(lambda report: report.step < 70, first.reports()))
    again = make_run(text=held_out())
    again.resume(again.checkpoints.newest()[0])
    assert (again.trainer.done, again.best.combined, again.without_gain) == (60, 7.0, 1)
    list(again.reports())
    rows = read_log(again.log_path)
    assert [row["step"] for row in rows] == list(range(10, 101, 10))
    measured = [row["held_out_combined"] for row in rows if row["held_out_combined"]]
    assert measured == [9.0, 7.0, 8.0, 8.0, 7.5]


def test_changed_settings_are_listed_and_nothing_is_restored(make_run):
    run = make_run(settings={"seed": 1, "window": 20, "dropout": 0.1})
    list(run.reports())
    again = make_run(settings={"seed": 2, "window": 20, "clip": 3.0})
    message = (
        "`seed` was 1, now 2; `dropout` was 0.1, now None; `clip` was None, now 3.0. "
        "Give the earlier options"
    )
    with pytest.raises(ValueError, match=message):
        again.resume(run.checkpoints.newest()[0])
    assert again.trainer.done == 0


def test_a_machine_that_does_not_write_leaves_no_file(make_run, tmp_path):
    run = make_run(text=held_out())
    run.writes = False
    reports = list(run.reports())
    assert [report.evaluation for report in reports] == [None] * 10
    assert not (tmp_path / "out").exists()


def test_a_new_run_in_an_old_place_forgets_the_old_checkpoints(make_run, tmp_path):
    old = make_run()
    list(old.reports())
    (tmp_path / "out" / "last").mkdir()
    new = make_run(steps=40)
    list(new.reports())
    names = [path.name for path in new.checkpoints.paths()]
    assert names == ["step-000000030.npz", "step-000000040.npz"]
    assert not (tmp_path / "out" / "last").exists()


def test_measuring_takes_the_steps_back(make_run):
    run = make_run()
    run.trainer.done = 5
    assert run.measure() >= 0.0
    assert run.trainer.done == 5


def test_tensorboard_events(make_run, tmp_path):
    list(make_run(tensorboard=str(tmp_path / "events")).reports())
    (path,) = (tmp_path / "events").iterdir()
    tags = {
        value.tag: event.step
        for event in tf.compat.v1.train.summary_iterator(str(path))
        for value in event.summary.value
    }
    assert tags["training_loss_forward"] == tags["tokens_per_second"] == 100
