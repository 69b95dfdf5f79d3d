"""Where the output of a command may go."""

import os
import shutil
import tempfile
from pathlib import Path

from keras_elmo.cli.errors import UserError

SCRATCH = ".writing-"


def check_output(directory, overwrite, files, goes_on=False):
    """Raises a UserError where an output could not or should not be written.

    Args:
        directory: where to.
        overwrite: bool, whether the output of an earlier run may be replaced.
        files: names of the files of such an output; a directory with others is never replaced.
        goes_on: bool, whether a run goes on in the directory, which leaves other files alone.
    """
    path = Path(directory)
    if path.exists() and not path.is_dir():
        raise UserError(f"--output: {path} is a file. Give a directory.")
    found = sorted(entry.name for entry in path.iterdir()) if path.is_dir() else []
    # A process that is killed while it writes leaves its scratch directory behind.
    others = [name for name in found if name not in files and not name.startswith(SCRATCH)]
    if others and not goes_on:
        raise UserError(f"--output: {path} holds other files ({others[0]}). Give a new directory.")
    if found and not (overwrite or goes_on):
        raise UserError(
            f"--output: {path} holds the output of an earlier run. Give another directory, or "
            "--overwrite to replace it."
        )
    parent = next(ancestor for ancestor in path.absolute().parents if ancestor.exists())
    if path.exists() and path.samefile(os.curdir):
        raise UserError("--output: the current directory cannot be replaced. Give a new one.")
    try:  # to write is the only sure test
        tempfile.TemporaryDirectory(prefix=f".{path.name}-", dir=parent).cleanup()
    except OSError as error:
        raise UserError(
            f"--output: {path} cannot be made, {parent} is not a writable directory "
            f"({error.strerror or error})."
        ) from None


def remove_scratch(directory):
    """Removes what killed processes left of the files that they wrote into a directory."""
    for entry in Path(directory).glob(f"{SCRATCH}*"):
        shutil.rmtree(entry, ignore_errors=True)
