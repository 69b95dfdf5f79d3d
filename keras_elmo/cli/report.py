"""Results as lines: tab-separated values, one JSON object a line, or a table for people."""

import json
import shutil
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

FORMATS = ("tsv", "json")
INDENT = "  "


def add_output(parser: Any, formats: Sequence[str] = FORMATS) -> Any:
    """Adds where results go and in which of `formats`, the first by default; gives the group."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format", choices=formats, default=formats[0], help="json is one object a line"
    )
    group.add_argument("--output", metavar="FILE", help="file to write, whole or not at all; "
                       "none: print")  # fmt: skip
    group.add_argument("--overwrite", action="store_true", help="replace FILE if it exists")
    return group


def record_lines(
    form: str, fields: Sequence[str], rows: Iterable[Sequence], header: bool = True
) -> Iterator[str]:
    r"""Yields the lines of a table; floats have six significant digits.

    In tab-separated values a tab inside a value is written `\t`, and `header` is the line of names.
    """
    if form == "tsv" and header:
        yield "\t".join(fields)
    for row in rows:
        if form == "tsv":
            yield "\t".join(map(_cell, row))
        else:
            values = map(_rounded, row)
            yield json.dumps(dict(zip(fields, values, strict=True)), ensure_ascii=False)


def aligned(rows: Iterable[Sequence[str]], is_number: bool = False) -> list[str]:
    """Rows of cells as lines, the columns set below each other.

    Where they are wider than the terminal, blocks of columns stand below each other, each with the
    first column. Numbers are all columns but the first, set flush right.
    """
    first, *columns = zip(*rows, strict=True)
    first = _padded(first)
    columns = [_padded(column, is_number) for column in columns]
    lines, block = [], [first]
    for column in columns:
        if len(block) > 1 and sum(len(c[0]) + 2 for c in [*block, column]) - 2 > width():
            lines += _joined(block)
            block = [first]
        block.append(column)
    return lines + _joined(block)


def wrapped(text: str, indent: str = "") -> list[str]:
    """A text as lines that fit the terminal, those after the first indented further."""
    return textwrap.wrap(
        text, width(), initial_indent=indent, subsequent_indent=indent + INDENT,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def width() -> int:
    """Columns of the terminal, 80 where there is none."""
    return shutil.get_terminal_size().columns


def _padded(column, is_number=False):
    widest = max(map(len, column))
    return [cell.rjust(widest) if is_number else cell.ljust(widest) for cell in column]


def _joined(columns):
    return [(INDENT.join(cells)).rstrip() for cells in zip(*columns, strict=True)]


def _cell(value):
    return str(_rounded(value)).replace("\t", "\\t")


def _rounded(value):
    return float(f"{value:.6g}") if isinstance(value, float) else value
