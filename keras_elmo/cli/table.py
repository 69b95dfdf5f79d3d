"""Labelled texts of CSV and TSV files, read with pandas."""

import csv
import re
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keras_elmo.cli.command import UserError, reason

if TYPE_CHECKING:
    from pandas import DataFrame

TAB_SUFFIXES = (".tsv", ".tab")
PACKED = {b"\x1f\x8b": "gzip", b"PK\x03\x04": "zip"}  # by how the file begins, whatever its name is
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
LINE_END = r"\r\n|\r|\n"
SHOWN = 5


@dataclass(frozen=True)
class Table:
    """Labelled texts: `lines` holds the line of the file on which each one starts."""

    name: str
    texts: list[str]
    labels: list[str]
    lines: list[int]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _File:
    """A table's file and what its rows are made of."""

    path: str
    begin: bytes
    encoding: str
    delimiter: str

    @property
    def packing(self) -> str | None:
        """What unpacks it: pandas' name, None for a plain file."""
        return next((kind for mark, kind in PACKED.items() if self.begin.startswith(mark)), None)

    def read(self, **kwargs: Any) -> "DataFrame":
        """All rows, blank ones and a header's too, as pandas' parser gives them; cells are str."""
        import pandas as pd

        return pd.read_csv(self.path, **{
            "sep": self.delimiter, "encoding": self.encoding, "header": None, "dtype": str,
            "compression": self.packing, "index_col": False,
            "quoting": csv.QUOTE_NONE if self.delimiter == "\t" else csv.QUOTE_MINIMAL,
            "keep_default_na": False, "skip_blank_lines": False, **kwargs,
        }).fillna("")  # fmt: skip

    def line_of(self, row: int) -> int:
        """The line on which a row starts, which the rows before it tell."""
        rows = self.read(nrows=row) if row else None
        return 1 if rows is None else _lines(rows).iloc[-1] + _height(rows.iloc[-1])


def read_table(
    path: str, text_column: str, label_column: str, encoding: str = "utf-8",
    delimiter: str | None = None, header: bool = True,
) -> Table:  # fmt: skip
    """Reads the texts and labels of a file, plain, gzip or zip.

    In comma-separated files a field may be quoted; in tab-separated ones a quote is an ordinary
    character. Fields without a column name are left out, with a note if there are any.
    Without a header columns are numbered from 1; delimiter None is the tab for .tsv and .tab, else
    the comma. Raises a UserError for what cannot be read or is missing.
    """
    begin = _beginning(path)
    is_tab = bool({suffix.lower() for suffix in Path(path).suffixes[-2:]} & set(TAB_SUFFIXES))
    delimiter = delimiter or ("\t" if is_tab else ",")
    rows = _rows(_File(str(path), begin, encoding, delimiter))
    lines = _lines(rows)
    names = [str(n + 1) for n in rows.columns]
    if header:
        names = [name.strip() for name in rows.iloc[0]]
        rows, lines = rows[1:], lines[1:]
    text_at = _column(path, names, text_column, "--text-column", delimiter)
    label_at = _column(path, names, label_column, "--label-column", delimiter)
    is_blank = (rows == "").all(axis=1)
    rows, lines = rows[~is_blank], lines[~is_blank].tolist()
    if not lines:
        raise UserError(f"{path} has a header row only. Add rows of labelled texts below it.")
    texts, labels = rows[text_at].tolist(), rows[label_at].str.strip().tolist()
    _check_present(path, lines, texts, text_column)
    _check_present(path, lines, labels, label_column)
    unnamed = rows[[at for at, name in enumerate(names) if not name]]
    return Table(str(path), texts, labels, lines, _notes(lines, unnamed))


def _beginning(path):
    try:
        with open(path, "rb") as file:
            return file.read(4)
    except FileNotFoundError:
        raise UserError(f"{path} does not exist. Check the path of DATA.") from None
    except IsADirectoryError:
        raise UserError(f"{path} is a directory. Give a CSV or TSV file.") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {reason(error)}.") from None


def _rows(file):
    """All rows of a file; raises a UserError for what pandas' parser finds wrong in it."""
    from pandas import errors

    try:
        rows = file.read()
    except errors.EmptyDataError:
        raise UserError(
            f"{file.path} is empty. Give a file with a header row and labelled texts."
        ) from None
    except errors.ParserError as error:
        raise UserError(_broken(file, str(error))) from None
    except UnicodeError as error:
        raise UserError(_not_decoded(file, error)) from None
    except LookupError:
        raise UserError(
            f"--encoding: unknown encoding {file.encoding!r}. Try utf-8, latin-1."
        ) from None
    except (OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile) as error:
        raise UserError(f"{file.path} cannot be read: {error}.") from None
    has_nul = rows.apply(lambda column: column.str.contains("\0", regex=False)).any(axis=1)
    if has_nul.any():
        raise UserError(
            f"{file.path}, line {_lines(rows)[has_nul].iloc[0]}: a NUL character, so this is no "
            f"text file in {file.encoding}. Save it as UTF-8, or try --encoding utf-16."
        )
    return rows


def _broken(file, message):
    """What is wrong with a row, from pandas' message: it counts rows, people count lines."""
    advice = "Correct or delete it; a field that holds the delimiter needs quotes in a CSV file."
    if found := re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", message):
        line, what = file.line_of(int(found[2]) - 1), f"{found[3]} fields instead of {found[1]}"
    elif found := re.search(r"EOF inside string starting at row (\d+)", message):
        line, what = file.line_of(int(found[1])), "unexpected end of data inside quotes"
        advice = "Close its quotes, double quotes inside a quoted field, or give --delimiter."
    else:
        return f"{file.path}: {message}"
    return f"{file.path}, line {line}: broken row, {what}. {advice}"


def _not_decoded(file, error):
    advice = "utf-16" if file.begin[:2] in UTF_16_MARKS else "latin-1"
    found = str(error)
    if isinstance(error, UnicodeDecodeError):
        found = f"byte 0x{error.object[error.start]:02x}{_place_of_byte(file)}"
    return (
        f"{file.path} is not {file.encoding}: {found}. Give its encoding, for instance --encoding "
        f"{advice}."
    )


def _place_of_byte(file):
    """Where a byte stands that is not of the encoding: in latin-1 every byte is a character."""
    rows = file.read(encoding="latin-1", on_bad_lines="skip")
    for line, cells in zip(_lines(rows), rows.itertuples(index=False), strict=True):
        try:
            "".join(cells).encode("latin-1").decode(file.encoding)
        except UnicodeError:
            return f" on line {line}"
    return ""


def _height(row):
    """Lines that a row takes."""
    return 1 + sum(len(re.findall(LINE_END, cell)) for cell in row)


def _lines(rows):
    """The line on which each row starts."""
    heights = 1 + rows.apply(lambda column: column.str.count(LINE_END)).sum(axis=1)
    return heights.cumsum().shift(fill_value=0) + 1


def _column(path, names, wanted, option, delimiter):
    found = [at for at, name in enumerate(names) if name == wanted]
    if len(found) == 1:
        return found[0]
    if found:
        raise UserError(f"{path} has {len(found)} columns named {wanted!r}. Rename all but one.")
    unnamed = names.count("")
    known = ", ".join(name for name in names if name) + (f" ({unnamed} unnamed)" if unnamed else "")
    hint = f" If {delimiter!r} does not separate them, give --delimiter." if len(names) == 1 else ""
    raise UserError(
        f"{path} has no column {wanted!r}. Its columns: {known:.300}. Choose by {option}.{hint}"
    )


def _check_present(path, lines, values, column):
    missing = [str(line) for line, value in zip(lines, values, strict=True) if not value]
    if missing:
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        raise UserError(
            f"{path}: no value in column {column!r} on line {', '.join(missing[:SHOWN])}{more}. "
            "Fill it in or delete the row."
        )


def _notes(lines, unnamed):
    is_spilled = (unnamed != "").any(axis=1)
    spilled = [line for line, spills in zip(lines, is_spilled, strict=True) if spills]
    if not spilled:
        return []
    return [
        f"{len(spilled)} rows, the first on line {spilled[0]}, go on in unnamed columns: left out"
    ]
