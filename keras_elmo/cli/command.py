"""What the console commands share: parsing, subcommands, exit statuses, faults in one line."""

import argparse
import contextlib
import dataclasses
import importlib
import itertools
import os
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from keras_elmo import __version__

EPILOG = """examples:
{examples}

exit status: 0 done, 2 bad input (one line on stderr), 130 or 143 interrupted
`{prog} COMMAND --help` tells each command's options."""
_COMMAND = re.compile(r" *(keras_elmo|zcat)")
_SET_OFF = re.compile(r" *(\S.*?  +)?")  # indent, and a first column


class UserError(Exception):
    """A fault in what the user gave: the command ends with this one line and a status.

    `prog` found it, None for the command that runs; `status` is 2 for bad input.
    """

    def __init__(self, message: object, prog: str | None = None, status: int = 2):
        super().__init__(" ".join(str(message).split()))
        self.prog = prog
        self.status = status


def reason(error: Exception) -> object:
    """What an OSError says without its number and the name of a file under way; else all of it."""
    return getattr(error, "strerror", None) or error


@contextlib.contextmanager
def faults_of(subject: str = "", kinds: tuple = (ValueError, TypeError, OSError)) -> Iterator[None]:
    """Tells errors of the block as faults of `subject`, what the user gave."""
    try:
        yield
    except kinds as error:
        raise UserError(f"{subject}: {error}" if subject else error) from None


@contextlib.contextmanager
def written_to(subject: str) -> Iterator[None]:
    """Tells errors of the system while the block writes."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{subject} cannot be written: {reason(error)}") from None


class HelpFormatter(argparse.ArgumentDefaultsHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Shows defaults where there are any, fills paragraphs, and keeps what is indented as it is."""

    def _fill_text(self, text, width, indent):
        filled = []
        for is_paragraph, lines in itertools.groupby(
            text.splitlines(), lambda s: s[:1].strip() != ""
        ):
            if is_paragraph:
                filled += textwrap.wrap(" ".join(lines), width, break_on_hyphens=False)
            else:
                filled += itertools.chain.from_iterable(_cut(line, width) for line in lines)
        return "\n".join(filled)

    def _get_help_string(self, action):
        if action.default in (None, False):
            return action.help
        return super()._get_help_string(action)


def _cut(line, width):
    """Lines that fit: a second column goes on below itself, a command at an option."""
    if len(line) <= width:
        return [line]
    options = {"break_on_hyphens": False, "break_long_words": False}
    if _COMMAND.match(line):
        indent = " " * (len(line) - len(line.lstrip()))
        words = re.sub(r" (?!-)", "\0", line.strip())
        parts = textwrap.wrap(
            words, width - 2, initial_indent=indent, subsequent_indent=f"{indent}    ", **options
        )
        return " \\\n".join(parts).replace("\0", " ").split("\n")
    column = len(_SET_OFF.match(line)[0])
    return textwrap.wrap(line, width, subsequent_indent=" " * column, **options)


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that reports a fault by a UserError instead of usage and exit."""

    def __init__(self, **kwargs: Any):
        super().__init__(**{"formatter_class": HelpFormatter, "allow_abbrev": False, **kwargs})

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message} (`{self.prog} --help` tells more)", prog=self.prog)


@dataclasses.dataclass(frozen=True)
class Command:
    """A console command.

    Args:
        prog: its name.
        description: what it is for, one line.
        examples: indented lines of its help.
        subcommands: their names, and what each does in a few words. Each is a module of `commands`,
            imported when it is asked for, with DESCRIPTION, EPILOG, `add_arguments(parser)` and
            `run(args)`, which returns the status.
    """

    prog: str
    description: str
    examples: str
    subcommands: Mapping[str, str]

    def run(self, argv: Sequence[str] | None = None) -> int:
        """Runs a subcommand (None: by the process's arguments); returns the exit status.

        It is 0, 2 after bad input, 130 after Ctrl-C, 141 where the reader has left.
        """
        prog = self.prog
        try:
            argv = sys.argv[1:] if argv is None else argv
            args, unknown = self._parser(argv).parse_known_args(argv)
            prog = f"{prog} {args.command}"
            if unknown:
                raise UserError(
                    f"unrecognized arguments: {' '.join(unknown)} (`{prog} --help` tells more)"
                )
            status = args.run(args)
            sys.stdout.flush()
            return status
        except UserError as error:
            return _fail(f"{error.prog or prog}: error: {error}", error.status)
        except KeyboardInterrupt:
            return _fail(f"{prog}: interrupted", 130)
        except BrokenPipeError:  # the reader of our output has left; nothing can be told to it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 141

    def _parser(self, argv):
        epilog = EPILOG.format(examples=self.examples, prog=self.prog)
        parser = Parser(prog=self.prog, description=self.description, epilog=epilog)
        parser.add_argument("--version", action="version", version=f"{self.prog} {__version__}")
        commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
        for name, summary in self.subcommands.items():
            command = commands.add_parser(name, help=summary)
            if name in argv:
                _complete(command, name)
        return parser


def _complete(parser, name):
    module = importlib.import_module(f"keras_elmo.cli.commands.{name}")
    parser.description, parser.epilog = module.DESCRIPTION, module.EPILOG
    module.add_arguments(parser)
    parser.set_defaults(run=module.run)


def _fail(line, status):
    print(line, file=sys.stderr)
    return status
