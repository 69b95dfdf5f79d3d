"""Text files, plain or gzip, as checked UTF-8 lines; patterns and standard input."""

import codecs
import glob
import gzip
import itertools
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO

STDIN = "-"
LONGEST_LINE = 16 << 20
GZIP_MAGIC = b"\x1f\x8b"


def find_files(patterns: Iterable[str]) -> list[str]:
    """The files that paths and patterns name; those of a pattern sorted, `"-"` standard input.

    What exists is the path itself, whatever `[`, `*` or `?` it holds; else it is a pattern. An
    OSError is raised where there is none, or no file that can be read.
    """
    paths = []
    for pattern in patterns:
        is_path = pattern == STDIN or os.path.lexists(pattern)
        found = [pattern] if is_path else sorted(glob.glob(pattern, recursive=True))
        paths.extend(found or [pattern])
    for path in paths:
        if path != STDIN:
            _check_file(path)
    return paths


def lines_of(file: str | os.PathLike | BinaryIO, encoding: str = "utf-8") -> Iterator[bytes]:
    """Yields every line of a text, blank ones too, as UTF-8 without its end and a first BOM.

    Args:
        file: path, gzip where the name ends in `.gz`; `"-"` is standard input; or a binary file
            object, which is read from where it is.
        encoding: one in which a line feed is one byte, so not UTF-16.

    Raises:
        OSError: the file cannot be opened or read.
        ValueError: it is damaged, of another encoding, or a line is longer than 16 MiB; the
            message names the file and the line.
    """
    if isinstance(file, (str, os.PathLike)) and os.fspath(file) != STDIN:
        path = os.fspath(file)
        with (gzip.open if path.endswith(".gz") else open)(path, "rb") as opened:
            yield from _checked(opened, path, encoding)
    elif isinstance(file, str):
        yield from _checked(sys.stdin.buffer, "standard input", encoding)
    else:
        name = getattr(file, "name", "<stdin>")
        name = "standard input" if name in (0, "<stdin>") else str(name)
        yield from _checked(file, name, encoding)


def _check_file(path):
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a directory. Give text files, one sentence a line.")
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path} does not exist. Give text files, one sentence a line.")
    if not os.access(path, os.R_OK):
        raise PermissionError(f"{path} cannot be read. Check its permissions.")


def _checked(file, name, encoding):
    is_utf_8 = codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
    for number in itertools.count(1):
        line = _next_line(file, name, number)
        if not line:
            return
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8) if is_utf_8 else line
            if line.startswith(GZIP_MAGIC):
                raise ValueError(
                    f"{name} must be text, or gzip with a name that ends in .gz. Received: gzip "
                    "under another name. Rename it."
                )
        try:
            text = line.decode("utf-8" if is_utf_8 else encoding)
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{name}, line {number}: text must be {encoding.upper()}. Received byte "
                f"{line[error.start]:#04x} at column {error.start + 1}. Convert the text to UTF-8."
            ) from None
        yield (line if is_utf_8 else text.encode("utf-8")).rstrip(b"\r\n")


def _next_line(file, name, number):
    try:
        line = file.readline(LONGEST_LINE + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(
            f"{name} must be a whole gzip file. Received: {error} (after line {number - 1}). Copy "
            "or compress it again."
        ) from None
    if len(line) > LONGEST_LINE:
        raise ValueError(
            f"{name}, line {number}: a line must be at most {LONGEST_LINE:,} bytes. Received a "
            "longer one. Put each sentence on its own line."
        )
    return line
