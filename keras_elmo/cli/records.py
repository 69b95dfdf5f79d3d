"""Results as lines: tab-separated values, or one JSON object a line."""

import contextlib
import json
import os
from pathlib import Path

from keras_elmo.cli.errors import UserError

FORMATS = ("tsv", "json")


def record_lines(form, fields, rows, header=True):
    r"""Yields the lines of a table; floats have six significant digits.

    Args:
        form: one of `FORMATS`. In tab-separated values a tab inside a value is written `\t`.
        fields: tuple of str, the columns' names, which are the keys of the JSON objects.
        rows: iterable of tuples of str, int and float.
        header: bool, whether tab-separated values begin with a line of the names.
    """
    if form == "tsv" and header:
        yield "\t".join(fields)
    for row in rows:
        if form == "tsv":
            yield "\t".join(map(_cell, row))
        else:
            values = map(_rounded, row)
            yield json.dumps(dict(zip(fields, values, strict=True)), ensure_ascii=False)


def write_lines(lines, path=None):
    """Writes lines to a file, whole or not at all, or prints them as they come.

    Args:
        lines: iterable of str.
        path: where to, as `check_output_file` let it pass. None: standard output.

    Raises:
        UserError: the file cannot be written.
    """
    if path is None:
        for line in lines:
            print(line)
        return
    try:
        with _replaced(Path(path).resolve()) as file:
            file.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        raise UserError(f"--output: {path} cannot be written: {error.strerror or error}.") from None


def check_output_file(path, overwrite, inputs=()):
    """Raises a UserError where `write_lines` could not or should not write.

    Args:
        path: where to, or None for standard output.
        overwrite: bool, whether an existing file may be replaced.
        inputs: paths of files that are read, which are never replaced.
    """
    if path is None:
        return
    if os.path.isdir(path):
        raise UserError(f"--output: {path} is a directory. Give a file.")
    if os.path.exists(path):
        _check_replaceable(path, overwrite, inputs)
    folder = Path(path).resolve().parent
    if not folder.is_dir():
        raise UserError(f"--output: {path} cannot be made, there is no directory {folder}.")
    if not os.access(folder, os.W_OK):
        raise UserError(f"--output: {path} cannot be made, {folder} is not writable.")


def _check_replaceable(path, overwrite, inputs):
    if not os.path.isfile(path):
        raise UserError(f"--output: {path} is no regular file. Leave --output out to print.")
    if any(os.path.exists(name) and os.path.samefile(path, name) for name in inputs):
        raise UserError(f"--output: {path} is among the files to read. Give another file.")
    if not overwrite:
        raise UserError(f"--output: {path} exists. Give another file, or --overwrite.")


@contextlib.contextmanager
def _replaced(path):
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "x", encoding="utf-8", newline="") as file:
            yield file
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _cell(value):
    return str(_rounded(value)).replace("\t", "\\t")


def _rounded(value):
    return float(f"{value:.6g}") if isinstance(value, float) else value
