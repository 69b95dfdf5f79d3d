"""Directories that appear complete or not at all."""

import contextlib
import os
import tempfile
from pathlib import Path


@contextlib.contextmanager
def whole_directory(directory):
    """Gives a new directory to write into, which takes the place of `directory` at the end.

    If the block raises, `directory` is left as it was and nothing else stays behind.
    """
    path = Path(directory).absolute()
    parent = next(ancestor for ancestor in path.parents if ancestor.exists())
    with tempfile.TemporaryDirectory(prefix=f".{path.name}-", dir=parent) as scratch:
        new = Path(scratch) / "new"
        new.mkdir()
        yield new
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(new, path, Path(scratch) / "old")


def _replace(new, path, old):
    if not path.exists():
        os.replace(new, path)
        return
    os.replace(path, old)
    try:
        os.replace(new, path)
    except OSError:
        os.replace(old, path)
        raise
