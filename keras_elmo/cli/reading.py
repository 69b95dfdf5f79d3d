"""Texts and models that the commands read, and the arguments that name them."""

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from keras_elmo.basics import text_files
from keras_elmo.basics.text_files import STDIN
from keras_elmo.cli.command import UserError, faults_of, reason
from keras_elmo_launcher import load_package

if TYPE_CHECKING:
    from keras_elmo.language_model.language_model import LanguageModel

FILES_HELP = (
    "UTF-8 text, one sentence a line, plain or .gz; patterns such as 'a-*.txt' too; - or none: "
    "standard input"
)
SOURCE_HELP = "biLM: a name of `keras_elmo presets`, directory, archive or TF-Hub module"


def add_model(parser: Any) -> None:
    """Adds MODEL."""
    parser.add_argument(
        "model", metavar="MODEL", help="preset, or directory that `keras_elmo-train bilm` wrote"
    )


def add_files(parser: Any) -> None:
    """Adds FILE, and whether to show how far the reading is."""
    parser.add_argument("files", nargs="*", metavar="FILE", help=FILES_HELP)
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def load_model(name: str) -> "LanguageModel":
    """The LanguageModel that MODEL names; raises a UserError."""
    from keras_elmo.presets.locate import Kind, locate

    if locate(name).kind is Kind.NOTHING:
        raise UserError(
            f"MODEL {name} must be 'english-small' or a directory that `keras_elmo-train bilm` "
            "wrote. Received: nothing there."
        )
    load_package()
    from keras_elmo.language_model.language_model import LanguageModel

    with faults_of(f"MODEL {name}"):
        return LanguageModel.load(name)


def check_source(argument: str, place: str) -> None:
    """Raises a UserError where nothing is at the place of a biLM, as `argument` names it."""
    from keras_elmo.presets.locate import Kind, locate

    found = locate(place)
    if found.kind is Kind.NOTHING:
        from keras_elmo.presets.open_model import no_bilm

        raise UserError(f"{argument} {place}: {no_bilm(found)}")


def find_files(patterns: Sequence[str]) -> list[str]:
    """The files that paths and patterns name; `"-"` is standard input, and so is an empty list."""
    with faults_of():
        return text_files.find_files(patterns or [STDIN])


def read_lines(paths: Sequence[str]) -> Iterator[bytes]:
    """Yields every line, blank ones included, as UTF-8 without its end.

    Raises:
        UserError: a file cannot be read, is damaged or is not UTF-8; it is named with its line.
    """
    for path in paths:
        try:
            yield from text_files.lines_of(path)
        except ValueError as error:
            raise UserError(error) from None
        except OSError as error:
            raise UserError(f"{path} cannot be read: {reason(error)}.") from None


def lines_with_progress(paths: Sequence[str], quiet: bool) -> Iterator[bytes]:
    """Yields the lines of files; a bar on stderr counts them, where that is a terminal."""
    from tqdm import tqdm

    disable = True if quiet else None
    return iter(tqdm(read_lines(paths), unit=" lines", disable=disable, dynamic_ncols=True))


def prints_on_terminal(args: Any) -> bool:
    """Whether results are shown on a terminal, where a bar would come between them."""
    return args.output is None and sys.stdout.isatty()
