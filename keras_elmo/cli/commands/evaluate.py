"""`keras_elmo evaluate`: the perplexity of text under a language model."""

import textwrap

from keras_elmo.cli.errors import UserError
from keras_elmo.cli.reading import add_files, add_model, add_output, lines_with_progress, load_model
from keras_elmo.cli.records import FORMATS, check_output_file, record_lines, write_lines
from keras_elmo.cli.text_files import find_files
from keras_elmo.language_model.results import DEFINITION, Evaluation

FIELDS = (*Evaluation._fields, "vocabulary", "definition")
DESCRIPTION = f"""Measure the perplexity of text, one sentence a line: forward, backward, combined,
over all FILEs together. Blank lines are no sentences. Perplexity is
{textwrap.fill(DEFINITION, 95)}.
Other definitions give other numbers."""
EPILOG = f"""examples:
  keras_elmo evaluate english-small held-out.txt.gz
  zcat part-*.gz | keras_elmo evaluate my-bilm --format json

--format text tells people; tsv is a line of names and one of values, json one object, of
  {", ".join(FIELDS)}
tokens: words and sentence ends; unknown_share: of the words"""


def add_parser(subparsers):
    """Adds the `evaluate` command."""
    parser = subparsers.add_parser(
        "evaluate",
        help="perplexity of text under a language model",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    add_model(parser)
    add_files(parser)
    add_output(parser, ("text", *FORMATS))
    parser.set_defaults(run=run)


def run(args):
    """Runs the command; returns the exit status."""
    paths = find_files(args.files)
    check_output_file(args.output, args.overwrite, paths)
    model = load_model(args)
    try:
        found = model.perplexity(lines_with_progress(args, paths))
    except ValueError as error:
        raise UserError(f"{', '.join(paths):.200}: {error}") from None
    words = len(model.vocabulary)
    if args.format == "text":
        lines = _report(found, words)
    else:
        lines = record_lines(args.format, FIELDS, [(*found, words, DEFINITION)])
    write_lines(lines, args.output)
    return 0


def _report(found, words):
    return [
        f"perplexity: forward {found.forward:.2f}, backward {found.backward:.2f}, "
        f"combined {found.combined:.2f}",
        f"text: {found.sentences:,} sentences, {found.tokens:,} predicted tokens a direction",
        f"vocabulary: {words:,}, unknown {found.unknown_share:.2%} of the words",
        f"definition: {DEFINITION}",
    ]
