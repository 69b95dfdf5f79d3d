"""`keras_elmo-train`: trains a classifier, or a biLM, from the command line."""

import os
import sys

from keras_elmo import __version__
from keras_elmo.cli import bilm, classifier
from keras_elmo.cli.arguments import Parser
from keras_elmo.cli.errors import UserError

PROG = "keras_elmo-train"
EPILOG = f"""examples:
  {PROG} classifier --output spam-model
  {PROG} classifier spam.csv --text-column v2 --label-column v1 --encoding latin-1 --output DIR
  {PROG} bilm corpus.txt --output my-bilm

exit status: 0 done, 2 bad input (one line on stderr), 130 interrupted
`{PROG} COMMAND --help` tells each command's options."""


def main(argv=None):
    """Runs the command.

    Args:
        argv: list of arguments, None for the process's own.

    Returns:
        Exit status: 0, 2 after bad input, 130 after Ctrl-C.
    """
    prog = PROG
    try:
        args = _parser().parse_args(argv)
        prog = f"{PROG} {args.command}"
        return args.run(args)
    except UserError as error:
        return _fail(f"{error.prog or prog}: error: {error}", 2)
    except KeyboardInterrupt:
        return _fail(f"{prog}: interrupted", 130)
    except BrokenPipeError:  # the reader of our output has left; nothing can be told to it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def _parser():
    parser = Parser(prog=PROG, description="Train with ELMo.", epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"{PROG} {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    classifier.add_parser(commands)
    bilm.add_parser(commands)
    return parser


def _fail(line, status):
    print(line, file=sys.stderr)
    return status
