"""Text files, patterns and standard input as one stream of lines."""

import glob
import os
import sys

from keras_elmo.basics.text_files import lines_of
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
        try:
            yield from lines_of(sys.stdin.buffer if path == STDIN else path)
        except ValueError as error:
            raise UserError(str(error)) from None
        except OSError as error:
            raise UserError(f"{path} cannot be read: {error.strerror or error}.") from None


def _check_file(path):
    if os.path.isdir(path):
        raise UserError(f"{path} is a directory. Give text files, one sentence a line.")
    if not os.path.exists(path):
        raise UserError(f"{path} does not exist. Give text files, one sentence a line.")
    if not os.access(path, os.R_OK):
        raise UserError(f"{path} cannot be read. Check its permissions.")
