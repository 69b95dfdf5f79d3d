"""Where vectors of a corpus go, and which; imports no TensorFlow."""

import os
from collections.abc import Iterable
from pathlib import Path

FORMATS = "hdf5", "npz"
DTYPES = "float32", "float16"
# What to keep of the biLM's layers, and the output of ELMoEmbedding that gives it.
LAYERS = {
    "all": "layers",
    "top": "top",
    "average": "average",
    "elmo": "elmo",
    "default": "default",
}
ENDINGS = {".hdf5": "hdf5", ".h5": "hdf5", ".npz": "npz"}


def format_of(path: str | os.PathLike, given: str | None = None) -> str:
    """The format of a file: the given one, or by the ending of its name."""
    found = ENDINGS.get(Path(path).suffix.lower()) if given is None else given
    if found not in FORMATS:
        raise ValueError(
            f"The output must end in {', '.join(ENDINGS)}, or its format be given (`format`, "
            f"`--format`), one of {', '.join(FORMATS)}. Received: {os.fspath(path)!r}, format "
            f"{given!r}."
        )
    return found


def partial_of(path: str | os.PathLike) -> Path:
    """The directory in which what belongs to a file is kept until it is whole."""
    path = Path(path)
    return path.with_name(f"{path.name}.partial")


def check_output(path: str | os.PathLike, files: Iterable, overwrite: bool) -> None:
    """Raises where vectors of the text in `files` could not or should not be written."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory. Give a file to write.")
    if path.exists():
        _check_replaceable(path, files, overwrite)
    folder = path.absolute().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{path} cannot be made, there is no directory {folder}.")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{path} cannot be made, {folder} is not writable.")
    partial = partial_of(path)
    if partial.exists() and not partial.is_dir():
        raise FileExistsError(
            f"{partial} must be free or the directory of an interrupted run. Received: a file. "
            "Move it away."
        )


def _check_replaceable(path, files, overwrite):
    paths = [file for file in files if isinstance(file, (str, os.PathLike))]
    if any(os.path.exists(name) and os.path.samefile(path, name) for name in paths):
        raise ValueError(f"{path} is among the files to read. Give another output.")
    if not path.is_file():
        raise ValueError(f"{path} must be a regular file. Give another output.")
    if not overwrite:
        raise FileExistsError(
            f"{path} exists. Give another output, or replace it with overwrite "
            "(`overwrite=True`, `--overwrite`)."
        )
