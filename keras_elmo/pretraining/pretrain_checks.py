"""What is checked of the options of `keras_elmo-train bilm` before any text is read."""

import glob
import os

from keras_elmo.cli.command import UserError
from keras_elmo.pretraining.options import OPTIMIZERS


def check_use(args):
    """Options that would have no effect are a misunderstanding, and so are errors."""
    schedule = args.schedule or OPTIMIZERS[args.optimizer][1]
    uses = (
        ("--held-out-sentences", args.held_out_sentences, args.held_out, "--held-out"),
        ("--patience", args.patience, args.held_out, "--held-out"),
        ("--init-vocabulary", args.init_vocabulary, args.init_from, "--init-from"),
        ("--vocabulary-size", args.vocabulary_size, not args.vocabulary, "no --vocabulary"),
        ("--reset-rate", args.reset_rate, args.resets == "random", "--resets random"),
        ("--warmup-steps", args.warmup_steps, schedule == "cosine", "--schedule cosine"),
        ("--final-rate", args.final_rate, schedule == "cosine", "--schedule cosine"),
        ("--weight-decay", args.weight_decay, args.optimizer == "adamw", "--optimizer adamw"),
    )
    for option, value, useful, needed in uses:
        if value is not None and not useful:
            raise UserError(
                f"{option} has a meaning with {needed} only; give that, or leave it out"
            )
    _check_tensorboard(args.tensorboard)


def _check_tensorboard(place):
    """The first part of the path that exists must be a directory to write in."""
    while place and not os.path.exists(place):
        place = os.path.dirname(place) or "."
    if place and not (os.path.isdir(place) and os.access(place, os.W_OK)):
        raise UserError(f"--tensorboard: {place} is no directory that can be written in; give one")


def find_texts(patterns):
    """The files that patterns name, each once, in the order of the patterns."""
    paths = []
    for pattern in patterns:
        found = sorted(glob.glob(pattern)) or [pattern]
        for path in found:
            if not os.path.isfile(path):
                what = "is a directory" if os.path.isdir(path) else "no such file"
                raise UserError(f"{path}: {what}; give text files, one sentence a line")
            if not os.access(path, os.R_OK):
                raise UserError(f"{path}: cannot be read; check its permissions")
        paths.extend(path for path in found if path not in paths)
    return paths


def find_held_out(args, paths):
    """The files of `--held-out`, none of which is among the training files."""
    if args.held_out is None:
        return []
    found = find_texts([args.held_out])
    for path in found:
        if any(os.path.samefile(path, other) for other in paths):
            raise UserError(f"--held-out: {path} is among the training files; give other text")
    return found


def check_source_stays(args):
    """The model that a run starts from must not be replaced by its output."""
    source, output = args.init_from, args.output
    both = source and os.path.isdir(source) and os.path.isdir(output)
    if both and os.path.samefile(source, output) and not args.resume:
        raise UserError(
            f"--init-from and --output are the same directory, {output}, whose model would be "
            "replaced; give another --output"
        )
