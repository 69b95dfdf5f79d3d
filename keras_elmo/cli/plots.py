"""`--plots DIR`: pictures of what a command has done."""

import os
import sys
import tempfile
from pathlib import Path

from keras_elmo import plots
from keras_elmo.cli.errors import UserError, reason
from keras_elmo.plots.drawing import check_matplotlib
from keras_elmo.pretraining.log import NAME as LOG
from keras_elmo.pretraining.log import read_log

OF_TRAINING = LEARNING, CONFUSION, WEIGHTS = "learning-curves", "confusion", "layer-weights"
PERPLEXITY = "perplexity"


def add_plots(group, names):
    """Adds `--plots` and `--plot-format`.

    Args:
        group: argument group.
        names: str for the help, what is drawn.
    """
    group.add_argument(
        "--plots", metavar="DIR", help=f"directory for pictures, made if it is not there: {names}; "
        'needs pip install "keras_elmo[plots]"',
    )  # fmt: skip
    group.add_argument(
        "--plot-format", choices=plots.FORMATS, help=f"of the pictures (default: "
        f"{plots.FORMATS[0]})",
    )  # fmt: skip


def check_plots(args, names, replace=False, outputs=()):
    """Raises a UserError where `write_plots` could not or should not write; before any work.

    Args:
        args: with `plots` and `plot_format`.
        names: the pictures' names.
        replace: bool, whether pictures that are there may be replaced.
        outputs: directories, or None, that pictures must not lie in, since they are replaced as
            a whole.
    """
    if args.plots is None:
        if args.plot_format is not None:
            raise UserError("--plot-format has a meaning with --plots only; give that too")
        return
    try:
        check_matplotlib()
    except ImportError as error:
        raise UserError(f"--plots: {error}") from None
    folder = Path(args.plots)
    for output in filter(None, outputs):
        output = Path(output).resolve()
        if output == folder.resolve() or output in folder.resolve().parents:
            raise UserError(f"--plots: {folder} is in --output. Give a directory beside it.")
    _check_directory(folder)
    found = [path for path in map(lambda name: _path(args, name), names) if path.exists()]
    if found and not replace:
        raise UserError(f"--plots: {found[0]} exists. Give another directory, or --overwrite.")


def _check_directory(folder):
    if folder.exists() and not folder.is_dir():
        raise UserError(f"--plots: {folder} is a file. Give a directory.")
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    try:  # to write is the only sure test
        tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=there).cleanup()
    except OSError as error:
        raise UserError(
            f"--plots: {there} is not a writable directory ({error.strerror or error})."
        ) from None


def write_plots(args, figures):
    """Writes pictures, all of them or none.

    Args:
        args: as `check_plots` let it pass, with `plots` given.
        figures: dict from name to matplotlib Figure.

    Returns:
        str, a line that tells where they are.
    """
    folder = Path(args.plots)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".drawing-", dir=folder) as stage:
            paths = {name: _path(args, name) for name in figures}
            for name, path in paths.items():
                plots.save(figures[name], Path(stage) / path.name)
            for path in paths.values():
                os.replace(Path(stage) / path.name, path)
    except OSError as error:
        raise UserError(f"--plots: {folder} cannot be written: {reason(error)}") from None
    return f"drawn in {folder}: {', '.join(path.name for path in paths.values())}"


def training_figures(history, evaluation, loss_unit):
    """The pictures of a model that learnt labels, a dict by name.

    Args:
        history: MixHistory of its training; None where it took no steps.
        evaluation: Evaluation of its test part.
        loss_unit: str, of its loss.
    """
    confusion = {CONFUSION: plots.confusion(evaluation.confusion, evaluation.classes)}
    if history is None:
        return confusion
    return {
        LEARNING: plots.learning_curves(history, loss_unit),
        **confusion,
        WEIGHTS: plots.layer_weights(
            history.layer_weights, gamma=history.gamma, steps=history.steps
        ),
    }


class PerplexityPicture:
    """Redraws the perplexity of a pretraining while it runs.

    Args:
        args: with `plots` and `plot_format`.
        run: Run, whose log is drawn.
    """

    def __init__(self, args, run):
        self.path = _path(args, PERPLEXITY)
        self.run = run
        self._begin = run.trainer.done
        self._drawn = None
        self._has_failed = False

    def draw(self):
        """Draws the log up to the step that is done; not twice, and nothing where it is empty.

        Where that fails, a line on stderr says so, once: the training goes on.
        """
        trainer = self.run.trainer
        if self._drawn == trainer.done:
            return
        rows = read_log(os.path.join(self.run.options.output, LOG))
        rows = [row for row in rows if int(row["step"]) <= trainer.done]
        if not rows:
            return
        self._drawn = trainer.done
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            plots.save(plots.perplexity(rows, trainer.positions_per_step), self.path)
        except OSError as error:
            if not self._has_failed:
                print(f"warning: --plots: {self.path} cannot be written: {error}", file=sys.stderr)
            self._has_failed = True

    def update(self, report):
        """Draws after an evaluation, and where none is made as often as one would be."""
        is_due = report.step - (self._drawn or self._begin) >= self.run.options.evaluate_every
        if report.evaluation is not None or is_due:
            self.draw()


def _path(args, name):
    return Path(args.plots) / f"{name}.{args.plot_format or plots.FORMATS[0]}"
