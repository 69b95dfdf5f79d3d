"""A pretraining run: steps, evaluations, checkpoints, log, and when to end."""

import contextlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from typing import NamedTuple

from keras_elmo.language_model.files import save_language_model
from keras_elmo.language_model.perplexity import evaluate
from keras_elmo.language_model.results import Evaluation
from keras_elmo.pretraining.checkpoint import Checkpoint, Checkpoints
from keras_elmo.pretraining.places import CHECKPOINTS, LAST
from keras_elmo.pretraining.trainer import Trainer
from keras_elmo.pretraining.training_log import LOG, TrainingLog

OUT_OF_PATIENCE, ASKED = 1, 2**10  # why to stop; sums over machines stay apart
WARM_STEPS = 2


class Report(NamedTuple):
    """Where a run stands.

    Attributes:
        row: the line of the log.
        step: steps done.
        steps: steps in all.
        seconds_left: estimated.
        evaluation: on held-out text after this step, or None.
        best: whether it is the best so far.
    """

    row: dict[str, float]
    step: int
    steps: int
    seconds_left: float
    evaluation: Evaluation | None = None
    best: bool = False


class Run:
    """Trains to the last step, or until it is asked to stop.

    After each evaluation the best model so far lies in `output`; with no held-out text, the last.
    A checkpoint is written every `checkpoint_every` steps and when the run ends. Of several
    machines the first writes and evaluates; all take the same steps.

    Args:
        trainer: what takes the steps; its options say when something is due.
        output: directory of the model, the log and the checkpoints.
        held_out: held-out sentences, may be empty.
        positions: predicted positions of one epoch and direction.
        settings: dict for JSON, what a run that goes on must agree with.
        writes: whether this machine is the one that writes.

    Attributes:
        best: Evaluation with the best combined perplexity so far, or None.
        interrupted: whether this or another machine was asked to end.
    """

    def __init__(
        self,
        trainer: Trainer,
        output: str,
        held_out: list[list[bytes]],
        positions: int,
        settings: dict,
        writes: bool = True,
    ):
        self.trainer = trainer
        self.options = trainer.options
        self.output = output
        self.held_out = held_out
        self.positions = positions
        self.settings = settings
        self.writes = writes
        self.checkpoints = Checkpoints(os.path.join(output, CHECKPOINTS), self.options.keep)
        self.best: Evaluation | None = None
        self.without_gain = 0
        self.interrupted = False
        self._stop = 0

    def ask_to_end(self) -> None:
        """Have the run end after the step that is being taken, on all machines."""
        self._stop = ASKED

    @property
    def log_path(self) -> str:
        """Where the log lies, or will."""
        return os.path.join(self.output, LOG)

    def resume(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint of a run with the same settings.

        Raises:
            ValueError: the settings differ; all that do are listed.
        """
        earlier, now = _flat(checkpoint.notes["settings"]), _flat(self.settings)
        differing = [
            f"`{name}` was {earlier.get(name)!r}, now {now.get(name)!r}"
            for name in {**earlier, **now}
            if earlier.get(name) != now.get(name)
        ]
        if differing:
            raise ValueError(
                "A run must go on with the options that it was started with. "
                f"{'; '.join(differing)}. Give the earlier options, or another output directory "
                "for a new run."
            )
        self.trainer.restore(checkpoint.arrays)
        best = checkpoint.notes["best"]
        self.best = best and Evaluation(*best)
        self.without_gain = checkpoint.notes["without_gain"]

    def check_machines(self) -> None:
        """Find machines that would train something else.

        Raises:
            ValueError: they stand at another step, or have other settings or text.
        """
        standing = json.dumps([self.trainer.done, self.settings], sort_keys=True)
        if not self.trainer.all_agree(standing.encode()):
            raise ValueError(
                "All machines must start with the same options, the same text and the same step. "
                f"This one: step {self.trainer.done}, and others differ. Let all of them see the "
                "same text and output directory, and give all the same command."
            )

    def reports(self) -> Iterator[Report]:
        """Take the steps that are left.

        Yields:
            where it stands, every `report_every` steps, at each evaluation and at the end.

        Raises:
            FloatingPointError: the loss or a weight is NaN or infinite; the last checkpoint is
                kept.
            OSError: a file could not be written; what was there is kept.
        """
        log = self._make_log()
        results, ended = [], self.finished or self.out_of_patience
        with log or contextlib.nullcontext():
            while not ended:
                results.append(self.trainer.step(self._stop))
                evaluation, best = self._evaluate_where_due()
                ended = self._is_ended(results[-1])
                report = None
                if ended or evaluation or self._every(self.options.report_every):
                    report = self._report(results, evaluation, best)
                    results = []
                if report and log:  # Before the checkpoint, behind which no step is told again.
                    log.write(report.row)
                self._save_where_due(ended, evaluation)
                if report:
                    yield report

    @property
    def finished(self) -> bool:
        """Whether the last step is taken."""
        return self.trainer.done >= (self.options.steps or 0)

    @property
    def out_of_patience(self) -> bool:
        """Whether as many evaluations as `patience` brought nothing better."""
        patience = self.options.patience
        return patience is not None and self.without_gain >= patience

    def _is_ended(self, result):
        """Whether the step was the last one: what is asked of one machine holds for all."""
        is_alone = self.trainer.strategy.num_replicas_in_sync == 1
        stop = self._stop if is_alone else result.stop
        self.interrupted = stop >= ASKED
        return self.finished or stop > 0

    def _every(self, steps):
        return self.trainer.done % steps == 0

    def _make_log(self):
        if not self.writes:
            return None
        return TrainingLog(self.output, self.trainer.done, self.options.tensorboard)

    def _evaluate_where_due(self):
        """Measures on held-out text; asks to stop where patience is at an end."""
        due = self.finished or self._every(self.options.evaluate_every)
        if not (due and self.writes and self.held_out):
            return None, False
        evaluation = evaluate(self.trainer.model, self.held_out)
        best = self.best is None or evaluation.combined < self.best.combined
        self.without_gain = 0 if best else self.without_gain + 1
        if best:
            self.best = evaluation
        if self.out_of_patience:
            self._stop = max(self._stop, OUT_OF_PATIENCE)
        return evaluation, best

    def _save_where_due(self, ended, evaluation):
        """Writes the best model into `output`, the last one beside it, and the checkpoint."""
        if self.writes:
            is_best = evaluation is not None and self.without_gain == 0
            unmeasured = self.best is None and self._every(self.options.evaluate_every)
            last = os.path.join(self.output, LAST)
            if is_best or unmeasured or (ended and self.best is None):
                self._save_model(self.output)
                shutil.rmtree(last, ignore_errors=True)  # an earlier end is none any more
            elif ended:
                self._save_model(last)
        if ended or self._every(self.options.checkpoint_every):
            self._checkpoint()

    def _save_model(self, directory):
        save_language_model(self.trainer.model, directory, self.options.weights)

    def _checkpoint(self):
        arrays = self.trainer.state()
        if self.writes:
            notes = {
                "settings": self.settings,
                "best": self.best,
                "without_gain": self.without_gain,
            }
            self.checkpoints.save(Checkpoint(self.trainer.done, arrays, notes))

    def _report(self, results, evaluation, best):
        done, n = self.trainer.done, len(results)
        seconds = sum(result.seconds for result in results)
        row = {
            "step": done,
            "epoch": round(done * self.trainer.positions_per_step / self.positions, 4),
            "learning_rate": results[-1].learning_rate,
            "training_loss_forward": sum(result.forward for result in results) / n,
            "training_loss_backward": sum(result.backward for result in results) / n,
            "tokens_per_second": round(n * self.trainer.positions_per_step / seconds),
            "input_share": round(sum(result.waited for result in results) / seconds, 4),
        }
        if evaluation is not None:
            row |= {
                "held_out_forward": evaluation.forward,
                "held_out_backward": evaluation.backward,
                "held_out_combined": evaluation.combined,
            }
        steps = self.options.steps
        return Report(row, done, steps, seconds / n * (steps - done), evaluation, best)

    def measure(self, steps: int = 3) -> float:
        """The seconds that a step takes, by a few that are then taken back."""
        before = self.trainer.state()
        for _ in range(WARM_STEPS):
            self.trainer.step()
        begin = time.perf_counter()
        for _ in range(steps):
            self.trainer.step()
        seconds = (time.perf_counter() - begin) / steps
        self.trainer.restore(before)
        return seconds


def _flat(settings, prefix=""):
    """A dict of dicts as one dict, with names as `model.lstm.dim`."""
    flat = {}
    for name, value in settings.items():
        name = f"{prefix}{name}"
        flat |= _flat(value, f"{name}.") if isinstance(value, dict) else {name: value}
    return flat
