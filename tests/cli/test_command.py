import sys
from types import SimpleNamespace

import pytest

from keras_elmo import __version__
from keras_elmo.cli.command import Command, UserError


@pytest.fixture
def start(monkeypatch):
    """Starts a command whose one subcommand, `go`, does what a function says."""

    def start(run, *arguments):
        module = SimpleNamespace(
            DESCRIPTION="It\ngoes.",
            EPILOG="  tool go on",
            add_arguments=lambda parser: parser.add_argument("--count", type=int, default=1),
            run=run,
        )
        monkeypatch.setitem(sys.modules, "keras_elmo.cli.commands.go", module)
        return Command("tool", "Does things.", "  tool go", {"go": "goes"}).run(arguments)

    return start


def raising(error):
    def run(_):
        raise error

    return run


def test_status_is_the_subcommands(start):
    seen = []
    assert start(lambda args: seen.append(args.count) or 3, "go", "--count", "3") == 3
    assert seen == [3]


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (UserError("a fault\nof two lines"), 2, "tool go: error: a fault of two lines\n"),
        (KeyboardInterrupt(), 130, "tool go: interrupted\n"),
    ],
)
def test_fault_is_one_line(start, capsys, error, status, line):
    assert start(raising(error), "go") == status
    assert capsys.readouterr() == ("", line)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "tool: error: the following arguments are required: COMMAND (`tool --help`"),
        (["go", "--count", "x"], "tool go: error: argument --count: invalid int value: 'x'"),
        (["go", "--cou", "1"], "tool go: error: unrecognized arguments: --cou 1 (`tool go --help`"),
    ],
)
def test_bad_arguments_are_one_line_with_the_way_to_help(start, capsys, arguments, message):
    assert start(lambda _: 0, *arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert message in err and "--help` tells more)" in err


def test_a_fault_of_the_program_is_not_hidden(start):
    with pytest.raises(ZeroDivisionError):
        start(lambda _: 1 // 0, "go")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["--version"], f"tool {__version__}\n"),
        (["--help"], "  tool go\n"),
        (["go", "--help"], "\nIt goes.\n"),
        (["go", "--help"], "  tool go on\n"),
    ],
)
def test_version_and_help(start, capsys, arguments, shown):
    with pytest.raises(SystemExit, match="^0$"):
        start(lambda _: 0, *arguments)
    assert shown in capsys.readouterr().out


def test_a_reader_that_leaves_before_the_last_line_is_no_traceback(start, monkeypatch, tmp_path):
    class Left:
        def __init__(self, file):
            self.fileno = file.fileno

        def flush(self):
            raise BrokenPipeError

    with open(tmp_path / "out", "w", encoding="utf-8") as out:
        monkeypatch.setattr(sys, "stdout", Left(out))
        assert start(lambda _: 0, "go") == 141
