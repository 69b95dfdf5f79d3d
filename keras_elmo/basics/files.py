"""Files and directories that appear whole or not at all.

All that the package writes goes through here: it is written under a temporary name beside its place
and renamed at the end. Whoever looks, after a kill too, finds the old or the new. Modes follow the
umask, so that a cache can be shared.
"""

import contextlib
import ctypes
import hashlib
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path

SCRATCH = ".writing"  # how the temporary names end
AT_FDCWD, RENAME_EXCHANGE = -100, 2  # of Linux' fcntl.h and fs.h
RENAME_SWAP = 2  # of macOS' stdio.h


@contextlib.contextmanager
def whole_file(
    path: str | os.PathLike, written_in: str | os.PathLike | None = None
) -> Iterator[Path]:
    """Gives the path of a new file to write, which takes the place of `path` at the end.

    If the block raises, what is at `path` is left as it was and nothing else stays behind; a kill
    leaves a file beside it, or in the directory `written_in` of the same file system.
    """
    path = Path(path).absolute()
    with _scratch_beside(path if written_in is None else Path(written_in) / path.name) as scratch:
        yield scratch
        _write_through(scratch)
        os.replace(scratch, path)
        _write_through(path.parent)


@contextlib.contextmanager
def whole_directory(directory: str | os.PathLike) -> Iterator[Path]:
    """Gives a new directory to write into, which takes the place of `directory` at the end.

    If the block raises, `directory` is left as it was and nothing else stays behind. Parents that
    are missing are made at the end.
    """
    path = Path(directory).absolute()
    _put_back(path)
    parent = next(ancestor for ancestor in path.parents if ancestor.exists())
    with _scratch_beside(parent / path.name) as scratch:
        scratch.mkdir()
        yield scratch
        for written in scratch.rglob("*"):
            _write_through(written)
        path.parent.mkdir(parents=True, exist_ok=True)
        _take_place(scratch, path)
        _write_through(path.parent)


@contextlib.contextmanager
def whole_files(directory: str | os.PathLike) -> Iterator[Path]:
    """Gives a new directory to write files into, which move into `directory` together at the end.

    Other files of `directory`, made where it is missing, stay. Each file appears whole; a kill
    while they move, which takes a moment, leaves some of the old beside some of the new.
    """
    path = Path(directory).absolute()
    path.mkdir(parents=True, exist_ok=True)
    with _scratch_beside(path / "files") as scratch:
        scratch.mkdir()
        yield scratch
        written = sorted(scratch.iterdir())
        for file in written:
            _write_through(file)
        for file in written:
            os.replace(file, path / file.name)
        _write_through(path)


def check_output_directory(
    directory: str | os.PathLike, overwrite: bool, files: Collection[str], goes_on: bool = False
) -> None:
    """Raises an OSError where an output could not or should not be written; nothing is changed.

    Args:
        directory: where to.
        overwrite: whether the output of an earlier run may be replaced.
        files: names of the files of such an output; a directory with others is never replaced.
        goes_on: whether a run goes on in the directory, which leaves other files alone.
    """
    path = Path(directory)
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"`output`: {path} is a file. Give a directory.")
    found = sorted(entry.name for entry in path.iterdir()) if path.is_dir() else []
    found = [name for name in found if not is_scratch(name)]  # what a killed process leaves
    others = [name for name in found if name not in files]
    if others and not goes_on:
        raise FileExistsError(
            f"`output`: {path} holds other files ({others[0]}). Give a new directory."
        )
    if found and not (overwrite or goes_on):
        raise FileExistsError(
            f"`output`: {path} holds the output of an earlier run. Give another directory, or "
            "`overwrite` to replace it."
        )
    parent = next(ancestor for ancestor in path.absolute().parents if ancestor.exists())
    if path.exists() and path.samefile(os.curdir):
        raise FileExistsError("`output`: the current directory cannot be replaced. Give a new one.")
    check_can_write("`output`", path, parent)


def check_can_write(argument: str, path: Path, folder: Path) -> None:
    """Raises a PermissionError unless `path` can be made in a folder: to write is the only test."""
    try:
        tempfile.TemporaryDirectory(prefix=f".{path.name}-", dir=folder).cleanup()
    except OSError as error:
        raise PermissionError(
            f"{argument}: {path} cannot be made, {folder} is not a writable directory "
            f"({error.strerror or error})."
        ) from None


def is_scratch(path: str | os.PathLike) -> bool:
    """Whether a path is what a process writes, or left when it was killed."""
    name = os.path.basename(path)
    return name.startswith(".") and name.endswith(SCRATCH)


def remove_scratch(directory: str | os.PathLike) -> None:
    """Removes what killed processes left in a directory that no other process writes into."""
    for path in filter(is_scratch, Path(directory).glob(f".*{SCRATCH}")):
        _remove(path)


def sha256_of(path: str | os.PathLike) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


@contextlib.contextmanager
def _scratch_beside(path):
    """A path beside `path` that nobody else uses; what is there in the end is removed."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}{SCRATCH}")
    try:
        yield scratch
    finally:
        _remove(scratch)


def _remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _take_place(new, path):
    """Renames a directory to `path`; what is there comes under its name, or is removed.

    Where the two cannot swap names in one step, what is there is first set aside, and stays so if
    the process is killed before the second step: the next that writes `path` puts it back.
    """
    if _exchange(new, path):
        return
    if path.exists():
        os.replace(path, _aside(path))
    try:
        os.replace(new, path)
    except OSError:
        if not _exchange(new, path):  # another process may have made `path` by now
            _put_back(path)
            raise
    _remove(_aside(path))


def _aside(path):
    return path.with_name(f".{path.name}.replaced")


def _put_back(path):
    """Undoes the half of a `_take_place` that was killed."""
    if path.exists():
        _remove(_aside(path))
    elif _aside(path).exists():
        os.replace(_aside(path), path)


def _exchange(one, other):
    """Swaps two paths in one step where the system can (Linux, macOS); gives whether it has."""
    try:
        system = ctypes.CDLL(None)
        if sys.platform == "darwin":
            return system.renamex_np(os.fsencode(one), os.fsencode(other), RENAME_SWAP) == 0
        ends = (AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other))
        return system.renameat2(*ends, RENAME_EXCHANGE) == 0
    except (AttributeError, OSError, TypeError):
        return False


def _write_through(path):
    """Has the system write a file or directory to the disk now, where it can."""
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
