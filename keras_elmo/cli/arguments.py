"""Command-line options from the fields of dataclasses, and back."""

import argparse
import dataclasses
import itertools
from collections.abc import Iterable
from typing import Any

from keras_elmo.basics.options import Kind


def flag_of(field: dataclasses.Field) -> str:
    """The command-line option of a dataclass field, as `--batch-size`."""
    negation = "no-" if field.default is True else ""
    return field.metadata.get("flag") or f"--{negation}{field.name.replace('_', '-')}"


def add_options(group: Any, options: Any, names: Iterable[str] = (), **overrides: dict) -> None:
    """Adds a command-line option for fields of a dataclass that `basics.options.option` made.

    Each is None where it is not given, a bool's a flag for the other value; the help shows the
    default, from `options` if that is an instance. No `names`: all fields that have a help;
    `overrides`: for a field, arguments in place of those of its `option`.
    """
    fields = {field.name: field for field in dataclasses.fields(options)}
    for name in names or [name for name, field in fields.items() if "help" in field.metadata]:
        arguments = {**fields[name].metadata, **overrides.get(name, {})}
        default = getattr(options, name, None)
        group.add_argument(
            arguments.pop("flag", flag_of(fields[name])), dest=name, default=None,
            **_arguments(default, **arguments),
        )  # fmt: skip


def _arguments(default, help="", shown=None, **arguments):
    if isinstance(default, bool):
        return {"help": help, "action": "store_false" if default else "store_true", **arguments}
    if "choices" in arguments:
        arguments["choices"] = tuple(arguments["choices"])
    elif isinstance(arguments.get("type"), Kind):
        arguments.setdefault("metavar", arguments["type"].metavar)
    shown = default if shown is None else shown
    told = help if shown in (None, "") else f"{help} (default: {shown})"
    return {"help": told, **arguments}


def given(options: Any, args: argparse.Namespace) -> dict[str, Any]:
    """The fields of a dataclass that were given on the command line."""
    values = {field.name: getattr(args, field.name, None) for field in dataclasses.fields(options)}
    return {name: value for name, value in values.items() if value is not None}


def from_args(options: Any, args: argparse.Namespace, **values: Any) -> Any:
    """A dataclass, or such an instance changed, from parsed arguments and further fields."""
    values = {**given(options, args), **values}
    is_class = isinstance(options, type)
    return options(**values) if is_class else dataclasses.replace(options, **values)


def with_flags(message: str, *options: Any) -> str:
    """A message in which fields of dataclasses are called what they are on the command line."""
    for field in itertools.chain(*map(dataclasses.fields, options)):
        message = message.replace(f"`{field.name}`", flag_of(field))
    return message


def delimiter(text: str) -> str:
    """One character, or the word `tab`."""
    text = "\t" if text in ("tab", "\\t") else text
    if len(text) != 1 or text in '\r\n"':
        raise argparse.ArgumentTypeError(f"must be one character or `tab`, not {text!r}")
    return text
