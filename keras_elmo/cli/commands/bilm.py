"""`keras_elmo-train bilm`: pretrains a biLM."""

import argparse
import errno
import os
import re

from keras_elmo.basics.options import positive_int
from keras_elmo.basics.text_files import find_files
from keras_elmo.cli import arguments
from keras_elmo.cli.command import UserError
from keras_elmo.cli.plots import PERPLEXITY, add_plots, check_plots
from keras_elmo.pretraining.options import (
    ModelOptions,
    PretrainingOptions,
    RunOptions,
    TextOptions,
    TrainingOptions,
)
from keras_elmo.pretraining.places import check_places
from keras_elmo_launcher import load_package

DESCRIPTION = """Pretrain a bidirectional language model: text files -> vocabulary -> windows ->
next-word losses of both directions, summed, over one shared softmax -> preset directory.
Perplexity is e to the mean nats, over the whole vocabulary, each sentence from zero state."""
EPILOG = """example:
  keras_elmo-train bilm 'corpus/train-*.txt.gz' --held-out corpus/valid.txt.gz --output my-bilm
  keras_elmo-train bilm (the same) --resume

written to DIR:
  options.json, weights.hdf5  the biLM, in the layout that AllenNLP and bilm-tf read too
  vocab.txt, softmax.hdf5     what its language models predict with
                              (all four of the best evaluation; without held-out text the last)
  training.csv                a line a report
  last/                       the same four files of the last step, where an earlier one was better
  checkpoints/                what --resume goes on from

Ctrl-C saves and ends; --resume goes on as if nothing had happened, after a kill too.
use it: keras_elmo.ELMoEmbedding("DIR"), keras_elmo.LanguageModel.load("DIR")"""
# How messages about a biLM's config name what options of other names set.
CONFIG_NAMES = {
    "dim": "lstm_dim", "embedding.dim": "char_dim", "cell_clip": "clip", "proj_clip": "clip",
}  # fmt: skip
NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command takes."""
    group = parser.add_argument_group("text")
    group.add_argument(
        "text", nargs="+", metavar="TEXT",
        help="UTF-8 text, one sentence a line, plain or .gz; patterns such as 'a-*.txt' too",
    )  # fmt: skip
    arguments.add_options(group, TextOptions)
    arguments.add_options(parser.add_argument_group("model"), ModelOptions)
    arguments.add_options(parser.add_argument_group("training"), TrainingOptions)
    group = parser.add_argument_group("the run")
    _add_run_options(group)
    arguments.add_options(group, RunOptions)
    add_plots(group, f"{PERPLEXITY}, with the training loss, drawn anew at each evaluation")


def _add_run_options(group):
    add = group.add_argument
    add("--output", required=True, metavar="DIR", help="directory to write")
    earlier = group.add_mutually_exclusive_group()
    earlier.add_argument(
        "--overwrite", action="store_true", help="take the place of an earlier run in DIR"
    )
    earlier.add_argument(
        "--resume", action="store_true", help="go on from DIR's newest whole checkpoint"
    )
    add("--dry-run", action="store_true", help="print the plan, time a few steps and end")
    add(
        "--threads", type=positive_int, metavar="N",
        help="processor threads (default: all); with 1 a run can be repeated to the last bit",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    try:
        options = arguments.from_args(PretrainingOptions, args)
        find_files([*args.text, *filter(None, [options.held_out])])
        check_places(args.output, options, args.resume, args.overwrite)
    except (OSError, ValueError, TypeError) as error:
        raise UserError(_with_flags(str(error))) from None
    if not os.environ.get("TF_CONFIG"):  # else the first of the machines checks them
        _check_plots(args)
    load_package()
    import tensorflow as tf

    try:
        return _pretrain(args, options)
    except tf.errors.OpError as error:
        if not os.environ.get("TF_CONFIG"):
            raise
        raise UserError(
            f"another machine has gone ({str(error).splitlines()[0]}); start all of them again "
            "with --resume",
            status=1,
        ) from None
    except OSError as error:
        if error.errno not in NO_SPACE:
            raise UserError(_with_flags(str(error))) from None
        raise UserError(
            f"{args.output}: {error.strerror}. What was written before is kept; free space and go "
            "on with --resume"
        ) from None
    except (FloatingPointError, ValueError, TypeError) as error:
        raise UserError(_with_flags(str(error))) from None


def _pretrain(args, options):
    from keras_elmo.cli.progress import PerplexityPicture, show_plan, show_training
    from keras_elmo.cli.signals import ended_by_interrupt
    from keras_elmo.pretraining.prepare import prepare
    from keras_elmo.pretraining.strategy import is_first, make_strategy

    _set_threads(args.threads)
    with ended_by_interrupt():  # It waits for all machines.
        strategy = make_strategy(options.strategy)
    draws = args.plots is not None and is_first(strategy)
    if is_first(strategy):
        _check_plots(args)
    prepared = prepare(args.text, args.output, options, strategy, args.resume, args.overwrite)
    prepared.run.check_machines()
    show_plan(prepared)
    if args.dry_run:
        return 0
    return show_training(prepared.run, PerplexityPicture(args, prepared.run) if draws else None)


def _check_plots(args):
    check_plots(args, [PERPLEXITY], args.overwrite or args.resume, [args.output])


def _set_threads(threads):
    import tensorflow as tf

    if threads is None:
        return
    try:
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
    except RuntimeError:
        raise UserError(
            "--threads: TensorFlow is at work already in this process; run the command by itself"
        ) from None


def _with_flags(message):
    """A message in which options are called what they are on the command line."""
    message = re.sub(r"`(?:lstm|char_cnn)\.([\w.]+)`", r"`\1`", message)
    for name, option in CONFIG_NAMES.items():
        message = message.replace(f"`{name}`", f"`{option}`")
    for name in ("output", "resume", "overwrite"):
        message = message.replace(f"`{name}`", f"--{name}")
    return arguments.with_flags(message, PretrainingOptions)
