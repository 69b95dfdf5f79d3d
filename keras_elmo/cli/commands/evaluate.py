"""`keras_elmo evaluate`: the perplexity of text under a language model."""

import argparse

from keras_elmo.cli.command import faults_of
from keras_elmo.cli.output import check_output_file, write_lines
from keras_elmo.cli.reading import (
    add_files,
    add_model,
    find_files,
    lines_with_progress,
    load_model,
    prints_on_terminal,
)
from keras_elmo.cli.report import FORMATS, add_output, record_lines, wrapped
from keras_elmo.language_model.results import DEFINITION, Evaluation

FIELDS = (*Evaluation._fields, "vocabulary", "definition")
DESCRIPTION = f"""Measure the perplexity of text, one sentence a line: forward, backward, combined,
over all FILEs together. Blank lines are no sentences. Perplexity is
{DEFINITION}.
Other definitions give other numbers."""
EPILOG = f"""examples:
  keras_elmo evaluate english-small held-out.txt.gz
  zcat part-*.gz | keras_elmo evaluate my-bilm --format json

--format text tells people; tsv is a line of names and one of values, json one object, of
  {", ".join(FIELDS)}
tokens: words and sentence ends; unknown_share: of the words"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command takes."""
    add_model(parser)
    add_files(parser)
    add_output(parser, ("text", *FORMATS))


def run(args: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    paths = find_files(args.files)
    check_output_file(args.output, args.overwrite, paths)
    model = load_model(args.model)
    with faults_of(f"{', '.join(paths):.200}", (ValueError,)):
        text = lines_with_progress(paths, args.quiet or prints_on_terminal(args))
        found = model.perplexity(text)
    words = len(model.vocabulary)
    if args.format == "text":
        lines = _report(found, words)
    else:
        lines = record_lines(args.format, FIELDS, [(*found, words, DEFINITION)])
    write_lines(lines, args.output)
    return 0


def _report(found, words):
    lines = [
        f"perplexity: forward {found.forward:.2f}, backward {found.backward:.2f}, "
        f"combined {found.combined:.2f}",
        f"text: {found.sentences:,} sentences, {found.tokens:,} predicted tokens a direction",
        f"vocabulary: {words:,}, unknown {found.unknown_share:.2%} of the words",
        f"definition: {DEFINITION}",
    ]
    return [part for line in lines for part in wrapped(line)]
