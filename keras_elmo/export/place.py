"""Where a SavedModel may be put; imports no TensorFlow."""

import os
from pathlib import Path

from keras_elmo.basics.checks import check_flag

# What TensorFlow writes, and what tools of TensorFlow put beside it.
SAVED_MODEL_FILES = {
    "assets",
    "assets.extra",
    "debug",
    "fingerprint.pb",
    "saved_model.pb",
    "variables",
}


def check_place(directory: str | os.PathLike, overwrite: bool) -> Path:
    """The path of `directory`, links resolved; raises where a SavedModel must not be put there."""
    check_flag("overwrite", overwrite)
    path = Path(os.path.realpath(directory))
    if path == Path(os.path.realpath(os.curdir)):
        raise FileExistsError(
            "`directory` must be one that can be replaced. Received: the current directory. "
            "Give a new one."
        )
    if path.exists() and not path.is_dir():
        raise FileExistsError(
            f"`directory` must be a new or an empty directory. Received: {path}, a file. "
            "Give another name."
        )
    found = {entry.name for entry in path.iterdir()} if path.exists() else set()
    if found:
        _check_may_replace(path, found, overwrite)
    return path


def _check_may_replace(path, found, overwrite):
    others = sorted(found - SAVED_MODEL_FILES)
    if others or "saved_model.pb" not in found:
        raise FileExistsError(
            "`directory` must be new, empty, or a SavedModel to replace. "
            f"Received: {path}, which holds {(others or sorted(found))[0]}. Give a new directory."
        )
    if not overwrite:
        raise FileExistsError(
            f"`directory` must be a new or an empty directory. Received: {path}, a SavedModel. "
            "Give another, or replace it with `overwrite=True`."
        )
