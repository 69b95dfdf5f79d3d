"""Text files, patterns and standard input as one stream of lines."""

import codecs
import glob
import gzip
import os
import sys
import zlib

from keras_elmo.cli.errors import UserError

STDIN = "-"


def find_files(patterns):
    """The files that paths and patterns name.

    Args:
        patterns: list of str; `"-"` is standard input, and so is an empty list.

    Returns:
        list of paths, `"-"` among them; those of a pattern are sorted.

    Raises:
        UserError: there is no such file, or it cannot be read.
    """
    paths = []
    for pattern in patterns or [STDIN]:
        if pattern == STDIN or os.path.exists(pattern):
            paths.append(pattern)
        else:
            paths.extend(sorted(glob.glob(pattern)) or [pattern])
    for path in paths:
        if path != STDIN:
            _check_file(path)
    return paths


def read_lines(paths):
    """Yields every line, blank ones included, without its line end.

    Args:
        paths: list of paths of UTF-8 files, gzip where the name ends in `.gz`; `"-"` is standard
            input.

    Yields:
        bytes, valid UTF-8.

    Raises:
        UserError: a file cannot be read, is damaged or is not UTF-8; it is named with its line.
    """
    for path in paths:
        if path == STDIN:
            yield from _checked(sys.stdin.buffer, "standard input")
        else:
            yield from _lines_of(path)


def _check_file(path):
    if os.path.isdir(path):
        raise UserError(f"{path} is a directory. Give text files, one sentence a line.")
    if not os.path.exists(path):
        raise UserError(f"{path} does not exist. Give text files, one sentence a line.")
    if not os.access(path, os.R_OK):
        raise UserError(f"{path} cannot be read. Check its permissions.")


def _lines_of(path):
    opener = gzip.open if path.endswith(".gz") else open
    try:
        with opener(path, "rb") as file:
            yield from _checked(file, path)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UserError(f"{path} is no whole gzip file: {error}. Copy it again.") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.") from None


def _checked(file, name):
    for number, line in enumerate(file, start=1):
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UserError(
                f"{name}, line {number}: not UTF-8, byte 0x{line[error.start]:02x} at column "
                f"{error.start + 1}. Convert the text to UTF-8."
            ) from None
        yield line.rstrip(b"\r\n")
