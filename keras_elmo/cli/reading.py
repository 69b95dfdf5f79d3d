"""Arguments that the commands on a language model share, and what they name."""

import sys

from tqdm import tqdm

from keras_elmo.cli.errors import UserError
from keras_elmo.cli.records import FORMATS
from keras_elmo.cli.text_files import read_lines
from keras_elmo.language_model.language_model import LanguageModel


def add_model(parser):
    """Adds MODEL."""
    parser.add_argument(
        "model", metavar="MODEL", help="preset, or directory that `keras_elmo-train bilm` wrote"
    )


def add_files(parser):
    """Adds FILE, and whether to show how far the reading is."""
    parser.add_argument(
        "files", nargs="*", metavar="FILE",
        help="UTF-8 text, one sentence a line, plain or .gz; patterns such as 'a-*.txt' too; "
        "- or none: standard input",
    )  # fmt: skip
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def add_output(parser, formats=FORMATS):
    """Adds where results go and in which of `formats`, the first by default; gives the group."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format", choices=formats, default=formats[0], help="json is one object a line"
    )
    group.add_argument("--output", metavar="FILE", help="file to write, whole or not at all; "
                       "none: print")  # fmt: skip
    group.add_argument("--overwrite", action="store_true", help="replace FILE if it exists")
    return group


def load_model(args):
    """The LanguageModel that MODEL names; raises a UserError."""
    try:
        return LanguageModel.load(args.model)
    except (ValueError, TypeError, OSError) as error:
        raise UserError(f"MODEL {args.model}: {error}") from None


def lines_with_progress(args, paths):
    """Yields the lines of files; a bar on stderr counts them.

    There is none where stderr is no terminal, nor where results are printed on one.
    """
    prints = args.output is None and sys.stdout.isatty()
    disable = True if args.quiet or prints else None
    return iter(tqdm(read_lines(paths), unit=" lines", disable=disable, dynamic_ncols=True))
