"""`keras_elmo substitutes`: the words that fit at a place of a sentence."""

import argparse

from keras_elmo.basics import options
from keras_elmo.cli.command import UserError, faults_of
from keras_elmo.cli.output import check_output_file, write_lines
from keras_elmo.cli.reading import add_model, load_model
from keras_elmo.cli.report import add_output, record_lines

FIELDS = ("word", "log_probability", "probability")
DESCRIPTION = """Give the words that fit best at a place of a sentence, by the words on both of its
sides: log p(w) = log p_forward(w | words before) + log p_backward(w | words after) - log Z, over
the vocabulary without its marks. The word that stands at the place has no part in it."""
EPILOG = f"""examples:
  keras_elmo substitutes english-small --text "She drank the tea." --position 3
  keras_elmo substitutes english-small --tokens "She drank the tea ." --position 3 -k 5

columns, and keys in json, best word first:
  {", ".join(FIELDS)}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what the command takes."""
    add_model(parser)
    sentence = parser.add_mutually_exclusive_group(required=True)
    sentence.add_argument("--text", help="a sentence, split by the model's tokenizer")
    sentence.add_argument("--tokens", metavar="TEXT", help="a sentence, split at spaces only")
    add = parser.add_argument
    add("--position", type=options.count, required=True, metavar="N", help="place of the word, "
        "from 0")  # fmt: skip
    add("-k", type=options.positive_int, default=10, metavar="N", help="how many words")
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    check_output_file(args.output, args.overwrite)
    model = load_model(args.model)
    tokens = _tokens(args, model.tokenizer)
    with faults_of(f"--position {args.position} of {tokens}", (ValueError,)):
        found = model.predict_words(tokens, args.position, args.k)
    if not found:
        raise UserError("the model's vocabulary holds no words, only its marks; take another model")
    rows = [(*substitute, substitute.probability) for substitute in found]
    write_lines(record_lines(args.format, FIELDS, rows), args.output)
    return 0


def _tokens(args, tokenizer):
    from keras_elmo.text.tokenize import tokenize

    text, rule = (args.text, tokenizer) if args.tokens is None else (args.tokens, "space")
    tokens = tokenize([text.encode("utf-8", "replace")], rule).to_list()[0]
    return [token.decode("utf-8", "replace") for token in tokens]
