"""`keras_elmo embed`: the vectors of every line of a text, in a file."""

import argparse
import errno
import sys
import time

from keras_elmo.basics.options import positive_int
from keras_elmo.basics.text_files import STDIN
from keras_elmo.cli.command import UserError, faults_of
from keras_elmo.cli.reading import SOURCE_HELP, check_source, find_files
from keras_elmo.cli.signals import interruptible
from keras_elmo.corpora.output_file import DTYPES, FORMATS, LAYERS, check_output, format_of
from keras_elmo.text.rules import TOKENIZERS
from keras_elmo_launcher import load_package

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
MIXED = ("elmo", "default")
DESCRIPTION = """Embed every line of a text: line k, counted from 0, becomes the dataset "k" of an
HDF5 file, or the array "k" of an npz file. Memory does not grow with the text, but by 0.4 kB a line
while an npz file is joined. OUT appears when it is whole; until then what is done lies in
OUT.partial, and after an interruption of any kind the same command goes on from there."""
EPILOG = """examples:
  keras_elmo embed corpus.txt.gz vectors.hdf5
  keras_elmo embed corpus.txt.gz vectors.npz --layers top --dtype float16
  zcat part-*.gz | keras_elmo embed - vectors.hdf5 --model my-bilm --layers elmo --scalars=-1,0,1

--layers, for a line of t tokens, L LSTM layers, dimension D:
  all      (L+1, t, D)  all layers; layer 0 is the token vector written twice
  top      (t, D)       the last layer
  average  (t, D)       plain mean over all layers
  elmo     (t, D)       gamma * sum_j softmax(s)_j * h_j
  default  (D,)         mean of elmo over the tokens, 0 where there are none"""
MIX_OPTIONS = {"scalars": "initial_scalars", "gamma": "initial_gamma"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command takes."""
    _add_places(parser)
    _add_model_options(parser.add_argument_group("vectors"))
    _add_output_options(parser.add_argument_group("output"))


def _add_places(parser):
    add = parser.add_argument
    add(
        "files", nargs="+", metavar="IN", help="UTF-8 text, one sentence a line, plain or .gz; "
        "patterns such as 'a-*.txt' too; lines count on through all; - is standard input",
    )  # fmt: skip
    add("output", metavar="OUT", help="file to write, .hdf5, .h5 or .npz")


def _add_model_options(group):
    add = group.add_argument
    add("--model", default="english-small", help=SOURCE_HELP)
    add("--layers", choices=tuple(LAYERS), default="all", help="what to keep, see below")
    add(
        "--scalars", type=_numbers, metavar="S,S,...", help="s_0 to s_L of --layers elmo or "
        "default, before softmax; none: all 0, the plain mean",
    )  # fmt: skip
    add("--gamma", type=_number, metavar="X", help="the scale of --layers elmo or default; "
        "none: 1")  # fmt: skip
    add("--tokenizer", choices=TOKENIZERS, help="rule that splits lines; none: the biLM's own, or "
        "space")  # fmt: skip
    add("--max-tokens", type=positive_int, metavar="N", help="tokens to keep of a line; none: all")


def _add_output_options(group):
    add = group.add_argument
    add("--dtype", choices=DTYPES, default=DTYPES[0], help="of the vectors in OUT")
    add("--format", choices=FORMATS, help="of OUT; none: by the ending of its name")
    add("--overwrite", action="store_true", help="replace OUT, and an OUT.partial that does not "
        "fit")  # fmt: skip
    add("--quiet", action="store_true", help="no progress bar, print nothing but warnings")


def run(args: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    files = [sys.stdin.buffer if name == STDIN else name for name in find_files(args.files)]
    with faults_of():
        format_of(args.output, args.format)
        check_output(args.output, files, args.overwrite)
    mix = _mix_options(args)
    check_source("--model", args.model)
    load_package()
    from keras_elmo.corpora.corpus_run import CorpusRun

    embedder = _make_embedder(args, mix)
    options = (args.max_tokens, args.dtype, args.format, args.overwrite)
    try:
        with CorpusRun(files, args.output, embedder, *options) as corpus_run:
            return _show(args, corpus_run)
    except OSError as error:
        if error.errno not in NO_SPACE:
            raise UserError(str(error)) from None
        raise UserError(
            f"{args.output}.partial: {error.strerror}. What was saved before is kept; free space "
            "and give the same command again."
        ) from None
    except (TypeError, ValueError) as error:
        raise UserError(str(error)) from None


def _mix_options(args):
    """The options of the mix that were given, under the names of the layer's arguments."""
    given = {option: getattr(args, option) for option in MIX_OPTIONS}
    given = {option: value for option, value in given.items() if value is not None}
    if given and args.layers not in MIXED:
        raise UserError(
            f"--{next(iter(given))} has a meaning with --layers {' or '.join(MIXED)} only; give "
            "one of these, or leave it out"
        )
    return {MIX_OPTIONS[option]: value for option, value in given.items()}


def _make_embedder(args, mix):
    from keras_elmo.corpora.embed_corpus import make_embedder
    from keras_elmo.layers.scalar_mix import ScalarMix

    options = {"tokenizer": args.tokenizer}
    try:
        options["mix"] = ScalarMix(**mix) if mix else None
        return make_embedder(args.model, args.layers, **options)[0]
    except (TypeError, ValueError, OSError) as error:
        raise UserError(_as_typed(args, str(error))) from None


def _as_typed(args, message):
    """A message with the options as they are called here, and the one that it is about first."""
    for option, name in MIX_OPTIONS.items():
        message = message.replace(f"`{name}`", f"--{option}").replace(f"{name}=", "")
    return message if message.startswith("--") else f"--model {args.model}: {message}"


def _show(args, corpus_run):
    """Shows the run's progress; returns the exit status."""
    from tqdm import tqdm

    begin = corpus_run.saved
    if begin.lines:
        _say(args, f"going on after line {begin.lines:,}")
    with (
        interruptible(lambda: None) as signals,
        tqdm(
            total=begin.total, initial=begin.lines, unit=" lines", smoothing=0, dynamic_ncols=True,
            disable=True if args.quiet else None,
        ) as bar,
    ):  # fmt: skip
        started = time.monotonic()
        for report in corpus_run.reports():
            seconds = time.monotonic() - started
            speed = (report.tokens - begin.tokens) / max(seconds, 1e-9)
            bar.set_postfix_str(f"{speed:,.0f} tokens/s", refresh=False)
            bar.update(report.lines - bar.n)
            if signals:
                break
    if signals:
        return _interrupted(args, corpus_run, signals[0])
    for remark in corpus_run.remarks:
        print(f"warning: {args.output}: {remark}", file=sys.stderr)
    end = corpus_run.saved
    _say(args, f"written to {args.output}: {end.lines:,} lines, {end.tokens:,} tokens")
    return 0


def _interrupted(args, corpus_run, number):
    print(
        f"keras_elmo embed: interrupted; {corpus_run.saved.lines:,} lines are saved in "
        f"{args.output}.partial, the same command goes on from there",
        file=sys.stderr,
    )
    return 128 + number


def _say(args, line):
    if not args.quiet:
        print(line, flush=True)


def _numbers(text):
    return [_number(part) for part in text.split(",")]


def _number(text):
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be a number, or for --scalars numbers with commas, not {text!r}"
        ) from None
