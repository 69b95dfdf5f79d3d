"""Reading labelled texts from CSV and TSV files."""

import csv
import io
from dataclasses import dataclass, field
from pathlib import Path

from keras_elmo.cli.errors import UserError

TAB_SUFFIXES = (".tsv", ".tab")
GZIP_MARK, UTF_16_MARKS = b"\x1f\x8b", (b"\xff\xfe", b"\xfe\xff")
SHOWN = 5


@dataclass(frozen=True)
class Table:
    """Labelled texts: `lines` holds the line of the file on which each one starts."""

    name: str
    texts: list
    labels: list
    lines: list
    notes: list = field(default_factory=list)


def read_table(path, text_column, label_column, encoding="utf-8", delimiter=None, header=True):
    """Reads the texts and labels of a file.

    In comma-separated files a field may be quoted; in tab-separated ones a quote is an ordinary
    character. Fields without a column name are left out, with a note if there are any.

    Args:
        path: the file.
        text_column: name of the texts' column; its number, from 1, where there is no header.
        label_column: the same for the labels.
        encoding: the file's encoding.
        delimiter: what separates fields; None means the tab for .tsv and .tab, else the comma.
        header: whether the first row holds the columns' names.

    Raises:
        UserError: a file that cannot be read, a missing column, a broken row, a missing value.
    """
    delimiter = delimiter or ("\t" if Path(path).suffix.lower() in TAB_SUFFIXES else ",")
    rows = _rows(path, _decode(path, encoding), delimiter)
    if not rows:
        raise UserError(f"{path} is empty. Give a file with a header row and labelled texts.")
    width = len(rows[0][1])
    names = [name.strip() for name in rows[0][1]] if header else _numbers(width)
    text_at = _column(path, names, text_column, "--text-column", delimiter)
    label_at = _column(path, names, label_column, "--label-column", delimiter)
    rows = rows[1:] if header else rows
    if not rows:
        raise UserError(f"{path} has a header row only. Add rows of labelled texts below it.")
    _check_widths(path, rows, width)
    lines = [line for line, _ in rows]
    texts = [fields[text_at] for _, fields in rows]
    labels = [fields[label_at].strip() for _, fields in rows]
    _check_present(path, lines, texts, text_column)
    _check_present(path, lines, labels, label_column)
    return Table(str(path), texts, labels, lines, _notes(rows, names))


def _decode(path, encoding):
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path} does not exist. Check the path of DATA.") from None
    except IsADirectoryError:
        raise UserError(f"{path} is a directory. Give a CSV or TSV file.") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.") from None
    try:
        text = data.decode("utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding)
    except UnicodeDecodeError as error:
        if data.startswith(GZIP_MARK):
            raise UserError(f"{path} is a gzip file. Unpack it first (gunzip).") from None
        line = data.count(b"\n", 0, error.start) + 1
        advice = "utf-16" if data[:2] in UTF_16_MARKS else "latin-1"
        raise UserError(
            f"{path} is not {encoding}: byte 0x{data[error.start]:02x} at position {error.start} "
            f"(line {line}). Give its encoding, for instance --encoding {advice}."
        ) from None
    except LookupError:
        raise UserError(f"--encoding: unknown encoding {encoding!r}. Try utf-8, latin-1.") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise UserError(
            f"{path}, line {line}: a NUL character, so this is no text file in {encoding}. "
            "Save it as UTF-8, or try --encoding utf-16."
        )
    return text


def _rows(path, text, delimiter):
    """(first line, fields) of every row that is not blank."""
    quoting = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting, strict=True
    )
    csv.field_size_limit(2**31 - 1)  # a long text is no broken row
    rows, line = [], 1
    try:
        for fields in reader:
            if any(fields):
                rows.append((line, fields))
            line = reader.line_num + 1
    except csv.Error as error:
        raise UserError(
            f"{path}, line {line}: broken row ({error}). Close its quotes, double quotes inside "
            "a quoted field, or give --delimiter."
        ) from None
    return rows


def _numbers(width):
    return [str(number) for number in range(1, width + 1)]


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


def _check_widths(path, rows, width):
    for line, fields in rows:
        if len(fields) != width:
            raise UserError(
                f"{path}, line {line}: broken row, {len(fields)} fields instead of {width}. "
                "Correct or delete it; a field that holds the delimiter needs quotes in a CSV file."
            )


def _check_present(path, lines, values, column):
    missing = [str(line) for line, value in zip(lines, values, strict=True) if not value]
    if missing:
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        raise UserError(
            f"{path}: no value in column {column!r} on line {', '.join(missing[:SHOWN])}{more}. "
            "Fill it in or delete the row."
        )


def _notes(rows, names):
    unnamed = [at for at, name in enumerate(names) if not name]
    spilled = [line for line, fields in rows if any(fields[at] for at in unnamed)]
    if not spilled:
        return []
    return [
        f"{len(spilled)} rows, the first on line {spilled[0]}, go on in unnamed columns: left out"
    ]
