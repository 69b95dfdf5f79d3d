"""`keras_elmo score`: the log-probability of each line of a text."""

import itertools

from keras_elmo.cli.reading import add_files, add_model, add_output, lines_with_progress, load_model
from keras_elmo.cli.records import check_output_file, record_lines, write_lines
from keras_elmo.cli.text_files import find_files
from keras_elmo.language_model.perplexity import chunks
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


def add_parser(subparsers):
    """Adds the `score` command."""
    parser = subparsers.add_parser(
        "score",
        help="log-probability of each sentence",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    add_model(parser)
    add_files(parser)
    output = add_output(parser)
    output.add_argument("--no-header", action="store_true", help="tsv without the line of names")
    parser.set_defaults(run=run)


def run(args):
    """Runs the command; returns the exit status."""
    paths = find_files(args.files)
    check_output_file(args.output, args.overwrite, paths)
    rows = _rows(load_model(args), lines_with_progress(args, paths))
    lines = record_lines(args.format, FIELDS, rows, header=not args.no_header)
    write_lines(lines, args.output)
    return 0


def _rows(model, lines):
    number = itertools.count(1)
    for chunk in chunks(lines):
        for score in model.score(chunk):
            yield next(number), *score
