"""What the console commands share: subcommands, exit statuses, faults in one line."""

import dataclasses
import os
import sys

from keras_elmo import __version__
from keras_elmo.cli.arguments import Parser
from keras_elmo.cli.errors import UserError

EPILOG = """examples:
{examples}

exit status: 0 done, 2 bad input (one line on stderr), 130 or 143 interrupted
`{prog} COMMAND --help` tells each command's options."""


@dataclasses.dataclass(frozen=True)
class Command:
    """A console command.

    Args:
        prog: str, its name.
        description: str, what it is for, one line.
        examples: str, indented lines of its help.
        subcommands: tuple of modules; each has `add_parser(subparsers)`, which adds one parser
            whose default `run` is a function of the parsed arguments that returns the status.
    """

    prog: str
    description: str
    examples: str
    subcommands: tuple

    def run(self, argv=None):
        """Runs a subcommand.

        Args:
            argv: list of arguments, None for the process's own.

        Returns:
            Exit status: 0, 2 after bad input, 130 after Ctrl-C, 141 where the reader has left.
        """
        prog = self.prog
        try:
            args, unknown = self._parser().parse_known_args(argv)
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

    def _parser(self):
        epilog = EPILOG.format(examples=self.examples, prog=self.prog)
        parser = Parser(prog=self.prog, description=self.description, epilog=epilog)
        parser.add_argument("--version", action="version", version=f"{self.prog} {__version__}")
        commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
        for subcommand in self.subcommands:
            subcommand.add_parser(commands)
        return parser


def _fail(line, status):
    print(line, file=sys.stderr)
    return status
