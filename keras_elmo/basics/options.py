"""Options told once: fields of a dataclass that a command offers too."""

import argparse
import dataclasses
import math
from collections.abc import Callable
from typing import Any


def option(default: Any = dataclasses.MISSING, help: str = "", **arguments: Any) -> Any:
    """A field of a dataclass, with what `cli.arguments.add_options` makes a command's option of.

    Args:
        default: its value where none is given; without it one must be.
        help: what it is, for the command's help.
        **arguments: what `add_argument` of `argparse` takes: `type`, one of the kinds below,
            `choices`, `metavar`. Besides: `flag`, the option's name, else that of the field;
            `shown`, the default as the help tells it, `""` for not at all.
    """
    return dataclasses.field(default=default, metadata={"help": help, **arguments})


@dataclasses.dataclass(frozen=True)
class Kind:
    """What an option's value must be: called with a text or a value, it gives the value.

    Args:
        what: for people, after "must be".
        convert: from text.
        holds: whether a converted value is of this kind.
        metavar: how the help names a value.
    """

    what: str
    convert: Callable[[str], Any]
    holds: Callable[[Any], bool]
    metavar: str

    def __call__(self, value: Any) -> Any:
        try:
            found = self.convert(str(value))
            if self.holds(found):
                return found
        except ValueError:
            pass
        raise argparse.ArgumentTypeError(f"must be {self.what}, not {value!r}")


count = Kind("a whole number of at least 0", int, lambda n: n >= 0, "N")
positive_int = Kind("a whole number of at least 1", int, lambda n: n >= 1, "N")
seed = Kind(f"a whole number from 0 to {2**32 - 1}", int, lambda n: 0 <= n < 2**32, "N")
fraction = Kind("between 0 and 1, as 0.2", float, lambda x: 0.0 < x < 1.0, "X")
share = Kind("at least 0 and below 1, as 0.1", float, lambda x: 0.0 <= x < 1.0, "X")
positive_float = Kind("a number above 0", float, lambda x: 0.0 < x < math.inf, "X")


def check_options(options: Any) -> None:
    """Raises a ValueError where a field of a dataclass instance is not of its kind or choices.

    None passes where it is the field's default.
    """
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        if value is None and field.default is None:
            continue
        kind, choices = field.metadata.get("type"), field.metadata.get("choices")
        if choices is not None and value not in choices:
            raise ValueError(_must_be(field.name, f"one of {tuple(choices)}", value))
        if isinstance(kind, Kind):
            try:
                kind(value)
            except argparse.ArgumentTypeError:
                raise ValueError(_must_be(field.name, kind.what, value)) from None


def _must_be(name, what, value):
    return f"`{name}` must be {what}. Received: {name}={value!r}."
