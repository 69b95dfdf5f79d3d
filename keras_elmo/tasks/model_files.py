"""Checks of the files that models are written to and read from."""

import os
import zipfile
from collections.abc import Iterable


def check_export_format(format: str, options: Iterable[str] = ()) -> None:
    """Raises a ValueError unless a model can be exported in `format` with no further `options`."""
    if format != "tf_saved_model" or options:
        raise ValueError(
            "`format` must be 'tf_saved_model', without further options. Received: "
            f"format={format!r}, options {sorted(options)}. Leave them out: other formats have no "
            "strings."
        )


def check_keras_path(filepath: str | os.PathLike) -> None:
    """Raises an error unless a model saved at `filepath` can be read again."""
    if not str(filepath).endswith(".keras"):
        raise ValueError(
            f"`filepath` must end in `.keras`. Received: {filepath}. Older formats cannot hold "
            "this model."
        )
    folder = os.path.dirname(os.path.abspath(filepath))
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            f"`filepath` must lie in a directory that exists. Received: {filepath}. Make {folder}."
        )


def check_keras_file(path: str | os.PathLike) -> None:
    """Raises an error unless `path` is a whole `.keras` file, for which Keras has no clear one."""
    if not os.path.isfile(path):
        raise FileNotFoundError(f"{path} must be a `.keras` file. Received: nothing there.")
    if not zipfile.is_zipfile(path):
        raise ValueError(
            f"{path} must be a whole `.keras` file. Received: a damaged or another one. Save the "
            "model again."
        )
