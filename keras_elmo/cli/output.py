"""Where the output of a command may go: checks before the work, one file at the end."""

import os
from collections.abc import Collection, Iterable
from pathlib import Path

from keras_elmo.basics.files import check_can_write, check_output_directory, whole_file
from keras_elmo.cli.command import UserError, written_to


def check_output(directory: str, overwrite: bool, files: Collection[str]) -> None:
    """Raises a UserError where a directory of these files could not or should not be written.

    One that holds others is never replaced.
    """
    try:
        check_output_directory(directory, overwrite, files)
    except OSError as error:
        message = str(error).replace("`output`", "--output")
        raise UserError(message.replace("`overwrite`", "--overwrite")) from None


def check_folder(option: str, folder: Path) -> None:
    """Raises a UserError where files cannot be written into a directory, made where it is not."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{option}: {folder} is a file. Give a directory.")
    _check_can_write(option, folder, [folder.absolute(), *folder.absolute().parents])


def _check_can_write(option, path, folders):
    folder = next(folder for folder in folders if folder.exists())
    try:
        check_can_write(option, path, folder)
    except PermissionError as error:
        raise UserError(str(error)) from None


def check_output_file(path: str | None, overwrite: bool, inputs: Iterable[str] = ()) -> None:
    """Raises a UserError where `write_lines` could not or should not write; never on `inputs`."""
    if path is None:
        return
    if os.path.isdir(path):
        raise UserError(f"--output: {path} is a directory. Give a file.")
    if os.path.exists(path):
        _check_replaceable(path, overwrite, inputs)
    folder = Path(path).resolve().parent
    if not folder.is_dir():
        raise UserError(f"--output: {path} cannot be made, there is no directory {folder}.")
    _check_can_write("--output", Path(path), [folder])


def _check_replaceable(path, overwrite, inputs):
    if not os.path.isfile(path):
        raise UserError(f"--output: {path} is no regular file. Leave --output out to print.")
    if any(os.path.exists(name) and os.path.samefile(path, name) for name in inputs):
        raise UserError(f"--output: {path} is among the files to read. Give another file.")
    if not overwrite:
        raise UserError(f"--output: {path} exists. Give another file, or --overwrite.")


def write_lines(lines: Iterable[str], path: str | None = None) -> None:
    """Writes lines to a file, whole or not at all, or prints them as they come (None)."""
    if path is None:
        for line in lines:
            print(line)
        return
    with written_to(f"--output: {path}"), whole_file(Path(path).resolve()) as scratch:
        with open(scratch, "w", encoding="utf-8", newline="") as file:
            file.writelines(f"{line}\n" for line in lines)
