"""`keras_elmo score`: the log-probability of each line of a text."""

import argparse
import itertools

from keras_elmo.cli.output import check_output_file, write_lines
from keras_elmo.cli.reading import (
    add_files,
    add_model,
    find_files,
    lines_with_progress,
    load_model,
    prints_on_terminal,
)
from keras_elmo.cli.report import add_output, record_lines
from keras_elmo.language_model.results import SentenceScore

FIELDS = ("line", *SentenceScore._fields)
DESCRIPTION = """Give the log-probability of each sentence, in nats: that of its words and its end
forward, that of its words and its begin backward, and the mean of both."""
EPILOG = f"""examples:
  keras_elmo score english-small sentences.txt --output scores.tsv
  keras_elmo score english-small sentences.txt --no-header | paste sentences.txt -

columns, and keys in json:
  {", ".join(FIELDS)}
line counts through all FILEs from 1; tokens: the words and one end; unknown: words that the
vocabulary lacks, which count as one word. A blank line is a sentence without words, tokens 1: so
there are as many records as lines, in their order."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command takes."""
    add_model(parser)
    add_files(parser)
    output = add_output(parser)
    output.add_argument("--no-header", action="store_true", help="tsv without the line of names")


def run(args: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    paths = find_files(args.files)
    check_output_file(args.output, args.overwrite, paths)
    model = load_model(args.model)
    rows = _rows(model, lines_with_progress(paths, args.quiet or prints_on_terminal(args)))
    lines = record_lines(args.format, FIELDS, rows, header=not args.no_header)
    write_lines(lines, args.output)
    return 0


def _rows(model, lines):
    from keras_elmo.language_model.perplexity import chunks

    number = itertools.count(1)
    for chunk in chunks(lines):
        for score in model.score(chunk):
            yield next(number), *score
