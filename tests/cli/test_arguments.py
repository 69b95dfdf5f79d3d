import argparse
import dataclasses

import pytest

from keras_elmo.basics.options import count, option
from keras_elmo.cli.arguments import add_options, from_args, given, with_flags
from keras_elmo.cli.command import Parser, UserError


@dataclasses.dataclass(frozen=True)
class Soup:
    spoons: int = option(2, "of salt", type=count)
    herb: str | None = option(None, "to taste", choices={"thyme": 1, "sage": 2})
    is_hot: bool = option(True, "serve it cold", flag="--cold")
    with_bread: bool = option(False, "bread beside it")
    cook: str = "me"


def parse(arguments, options=Soup, **kwargs):
    parser = Parser(prog="soup")
    add_options(parser, options, **kwargs)
    return parser, parser.parse_args(arguments)


def test_options_come_from_fields_and_go_back():
    _, args = parse(["--spoons", "3", "--cold", "--herb", "sage"])
    assert args == argparse.Namespace(spoons=3, herb="sage", is_hot=False, with_bread=None)
    assert given(Soup, args) == {"spoons": 3, "herb": "sage", "is_hot": False}
    assert from_args(Soup, args, cook="you") == Soup(3, "sage", False, False, "you")


def test_what_is_not_given_stays_as_it_is():
    mild = Soup(spoons=1)
    parser, args = parse([], mild)
    assert from_args(Soup, args) == Soup() and from_args(mild, args) == mild
    assert "(default: 1)" in parser.format_help()


def test_help_shows_defaults_names_and_choices():
    parser, _ = parse([], names=["herb", "spoons"], spoons={"help": "heaped", "shown": "two"})
    shown = parser.format_help()
    assert "--herb {thyme,sage}  to taste\n" in shown
    assert "--spoons N" in shown and "heaped (default: two)" in shown and "--cold" not in shown


def test_a_bad_value_is_named_with_its_option():
    with pytest.raises(UserError, match="argument --spoons: must be a whole number of at least 0"):
        parse(["--spoons", "-1"])
    assert with_flags("`with_bread` and `is_hot`, `pan`", Soup) == "--with-bread and --cold, `pan`"
