import sys
from types import SimpleNamespace

import pytest

from keras_elmo import __version__
from keras_elmo.cli.command import Command
from keras_elmo.cli.errors import UserError


def command(run):
    """A command whose one subcommand, `go`, does what `run` says."""

    def add_parser(subparsers):
        parser = subparsers.add_parser("go")
        parser.add_argument("--count", type=int, default=1)
        parser.set_defaults(run=run)

    return Command("tool", "Does things.", "  tool go", (SimpleNamespace(add_parser=add_parser),))


def raising(error):
    def run(_):
        raise error

    return run


def test_status_is_the_subcommands():
    seen = []
    assert command(lambda args: seen.append(args.count) or 0).run(["go", "--count", "3"]) == 0
    assert seen == [3]


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (UserError("a fault\nof two lines"), 2, "tool go: error: a fault of two lines\n"),
        (KeyboardInterrupt(), 130, "tool go: interrupted\n"),
    ],
)
def test_fault_is_one_line(capsys, error, status, line):
    assert command(raising(error)).run(["go"]) == status
    assert capsys.readouterr() == ("", line)


@pytest.mark.parametrize(
    "arguments", [[], ["stay"], ["go", "--count", "x"], ["go", "--cou", "1"], ["go", "on"]]
)
def test_bad_arguments_are_one_line_with_the_way_to_help(capsys, arguments):
    assert command(lambda _: 0).run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("tool") and err.count("\n") == 1 and "--help` tells more)" in err


def test_an_unknown_option_leads_to_the_help_of_its_subcommand(capsys):
    assert command(lambda _: 0).run(["go", "--speed", "3"]) == 2
    error = "tool go: error: unrecognized arguments: --speed 3 (`tool go --help` tells more)\n"
    assert capsys.readouterr() == ("", error)


def test_a_fault_of_the_program_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        command(lambda _: 1 // 0).run(["go"])


def test_version_and_help(capsys):
    for option, expected in (("--version", f"tool {__version__}\n"), ("--help", "  tool go\n")):
        with pytest.raises(SystemExit, match="^0$"):
            command(lambda _: 0).run([option])
        assert expected in capsys.readouterr().out


def test_a_reader_that_leaves_before_the_last_line_is_no_traceback(monkeypatch, tmp_path):
    class Left:
        def __init__(self, file):
            self.fileno = file.fileno

        def flush(self):
            raise BrokenPipeError

    with open(tmp_path / "out", "w", encoding="utf-8") as out:
        monkeypatch.setattr(sys, "stdout", Left(out))
        assert command(lambda _: 0).run(["go"]) == 141
