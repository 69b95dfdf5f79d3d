"""Runs the code that documentation shows."""

import doctest
import itertools
import math
import re
import shlex

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def fenced(text, language):
    """The fenced blocks of a language: list of (line number of its first line, code)."""
    found = re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, match.start(1)) + 1, match[1]) for match in found]


def run_program(code, names, place, line=1):
    """Runs a block of statements, with line numbers as in the page."""
    exec(compile("\n" * (line - 1) + code, place, "exec"), names)


def run_session(code, names, place):
    """Runs `>>>` lines and compares the outputs shown; names that they set stay in `names`."""
    test = doctest.DocTestParser().get_doctest(code, names, place, place, 0)
    report = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
    runner.run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    assert report == [], "".join(report)


def run_console(code, commands, capsys, place):
    """Runs `$` lines by `commands`, name to main, and compares the outputs shown.

    White space and the last digits of numbers may differ.
    """
    for shown in code.removeprefix("$ ").split("\n$ "):
        line, _, expected = shown.partition("\n")
        name, *arguments = shlex.split(line)
        assert commands[name](arguments) == 0, place
        printed = capsys.readouterr().out
        pairs = itertools.zip_longest(expected.split(), printed.split())
        wrong = [pair for pair in pairs if not _is_same(*pair)]
        assert wrong == [], f"{place}: `{line}` printed\n{printed}"


def _is_same(expected, printed):
    if None in (expected, printed):
        return False
    numbers = []
    for word in (expected, printed):
        try:
            numbers.append(float(word.strip(",%").replace(",", "")))
        except ValueError:
            return expected == printed
    return math.isclose(*numbers, rel_tol=1e-3)
