"""`--plots DIR`: pictures of what a command has done."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keras_elmo.basics.files import whole_files
from keras_elmo.cli.command import UserError, faults_of, written_to
from keras_elmo.cli.output import check_folder

if TYPE_CHECKING:
    from keras_elmo.cli.labelled import Evaluation
    from keras_elmo.tasks.mix_history import MixHistory

OF_TRAINING = LEARNING, CONFUSION, WEIGHTS = "learning-curves", "confusion", "layer-weights"
PERPLEXITY = "perplexity"
FORMATS = ("png", "svg")  # those of `keras_elmo.plots`, which is imported to draw only


def add_plots(group: Any, names: str) -> None:
    """Adds `--plots` and `--plot-format`; `names` tells what is drawn."""
    group.add_argument(
        "--plots", metavar="DIR", help=f"directory for pictures, made if it is not there: {names}; "
        'needs pip install "keras_elmo[plots]"',
    )  # fmt: skip
    group.add_argument(
        "--plot-format", choices=FORMATS,
        help=f"of the pictures (default: {FORMATS[0]})",
    )  # fmt: skip


def check_plots(
    args: Any, names: Iterable[str], replace: bool = False, outputs: Sequence[str | None] = ()
) -> None:
    """Raises a UserError where `write_plots` could not or should not write; before any work.

    Pictures must not lie in `outputs`, directories that are replaced as a whole.
    """
    if args.plots is None:
        if args.plot_format is not None:
            raise UserError("--plot-format has a meaning with --plots only; give that too")
        return
    folder = Path(args.plots)
    for output in filter(None, outputs):
        if folder.resolve().is_relative_to(Path(output).resolve()):
            raise UserError(f"--plots: {folder} is in --output. Give a directory beside it.")
    check_folder("--plots", folder)
    found = [path for path in map(lambda name: picture_path(args, name), names) if path.exists()]
    if found and not replace:
        raise UserError(f"--plots: {found[0]} exists. Give another directory, or --overwrite.")
    from keras_elmo.plots.drawing import check_matplotlib

    with faults_of("--plots", (ImportError,)):
        check_matplotlib()


def write_plots(args: Any, figures: Mapping[str, Any]) -> str:
    """Writes matplotlib Figures, all of them or none; returns a line that tells where they are."""
    from keras_elmo import plots

    names = [picture_path(args, name).name for name in figures]
    with written_to(f"--plots: {args.plots}"), whole_files(args.plots) as scratch:
        for name, figure in zip(names, figures.values(), strict=True):
            plots.save(figure, scratch / name)
    return f"drawn in {Path(args.plots)}: {', '.join(names)}"


def training_figures(
    history: "MixHistory | None", evaluation: "Evaluation", loss_unit: str
) -> dict[str, Any]:
    """The pictures of a model that learnt labels; no history: it took no steps."""
    from keras_elmo import plots

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


def picture_path(args: Any, name: str) -> Path:
    """Where the picture of this name goes."""
    return Path(args.plots) / f"{name}.{args.plot_format or FORMATS[0]}"
