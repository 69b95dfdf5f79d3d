"""What the commands that train a model on labels share: their output options and their files."""

import json
import sys
from pathlib import Path

import keras
import tensorflow as tf

from keras_elmo import __version__
from keras_elmo.basics.files import whole_directory
from keras_elmo.cli.errors import UserError, reason
from keras_elmo.cli.output import check_output
from keras_elmo.cli.plots import add_plots

FILES = MODEL_FILE, MISTAKES_FILE, METRICS_FILE = "model.keras", "mistakes.tsv", "metrics.json"


def add_output_options(group, pictures):
    """Adds `--output`, `--overwrite`, `--plots` and `--quiet`.

    Args:
        group: argument group.
        pictures: str for the help, what `--plots` draws.
    """
    add = group.add_argument
    add("--output", metavar="DIR", help="directory for model and report; none: only print")
    add("--overwrite", action="store_true", help="replace the output of an earlier run")
    add_plots(group, pictures)
    add("--quiet", action="store_true", help="no progress bar")


def verbosity(args):
    """Keras': a bar on a terminal, one line an epoch elsewhere, nothing when quiet."""
    if args.quiet:
        return 0
    return 1 if sys.stdout.isatty() else 2


def common_metrics(evaluation, seconds):
    """The part of `metrics.json` that does not depend on the kind of model."""
    return {
        "classes": list(evaluation.classes),
        "confusion": evaluation.confusion.tolist(),
        "seconds": {name: round(value, 2) for name, value in seconds.items()},
        "versions": {
            "keras_elmo": __version__,
            "keras": keras.__version__,
            "tensorflow": tf.__version__,
        },
    }


def write_output(args, model, metrics, mistakes):
    """Writes model, mistakes and metrics into `--output`, all of them or none.

    Args:
        args: with `output` and `overwrite`.
        model: TextClassifier or Tagger.
        metrics: dict.
        mistakes: as in `write_mistakes`.
    """
    check_output(args.output, args.overwrite, FILES)
    try:
        with whole_directory(args.output) as directory:
            model.save(directory / MODEL_FILE)
            write_mistakes(directory / MISTAKES_FILE, mistakes)
            text = json.dumps(metrics, indent=2, ensure_ascii=False) + "\n"
            (directory / METRICS_FILE).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"--output: {args.output} cannot be written: {reason(error)}") from None
    print(f"written to {Path(args.output)}: {', '.join(FILES)}")


def write_mistakes(path, rows):
    """Writes rows of fields, the names of the columns first, a line and tabs each."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        for row in rows:
            file.write("\t".join(map(_field, row)) + "\n")


def _field(value):
    text = f"{value:.4f}" if isinstance(value, float) else str(value)
    return " ".join(text.splitlines()).replace("\t", " ")
