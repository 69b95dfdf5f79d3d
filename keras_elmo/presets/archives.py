"""Zip and tar archives: what they may hold, and how they are unpacked without leaving a folder."""

import bz2
import contextlib
import functools
import gzip
import io
import lzma
import os
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from typing import NamedTuple

from keras_elmo.presets.cache import cannot_write, temporary_beside

MOST_MEMBERS = 10_000
LARGEST_TOTAL = 16 << 30
LARGEST_READ = 4 << 20
CHUNK = 1 << 20
OPENERS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
DAMAGE = (
    OSError,
    RuntimeError,
    ValueError,
    EOFError,
    LookupError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    tarfile.TarError,
)


class Member(NamedTuple):
    """A file of an archive.

    Attributes:
        name: its path, with `/` and without a leading `./`.
        size: int, bytes, as the archive says.
    """

    name: str
    size: int


class RefusedError(ValueError):
    """An archive is readable, but what it holds is not let through."""


def is_archive(path):
    """Whether a file is a zip archive, or a tar archive, plain or by gzip, bzip2 or xz."""
    if _is_zip(path):
        return True
    try:
        with _readable(path), _open_tar(path):
            return True
    except ValueError:
        return False


@contextlib.contextmanager
def open_archive(path):
    """Open an archive for reading; nothing is written.

    Args:
        path: path of a zip or tar archive.

    Yields:
        iterator of pairs of a Member and a function `copy(write)`, which hands the member's bytes
        to `write` piece by piece. A pair is good until the next one is asked for. Directories are
        left out.

    Raises:
        ValueError: the file is no archive or is damaged; a member is a link, a device or
            encrypted, would leave the folder, comes twice or is longer than it says; there are
            more than `MOST_MEMBERS`, or of more than `LARGEST_TOTAL` bytes.
    """
    with contextlib.ExitStack() as stack:
        with _readable(path):
            if _is_zip(path):
                found = _zip_members(stack.enter_context(zipfile.ZipFile(path)), path)
            else:
                found = _tar_members(stack.enter_context(_open_tar(path)), path)
        yield _checked(found, path)


def unpack(archive, directory, shown=None):
    """Unpack a zip or tar archive into a new directory, as a whole or not at all.

    Args:
        archive: path of the archive.
        directory: path to make; a folder beside it gets this name once all is there.
        shown: path that errors name, where `directory` is to be renamed to it; None: `directory`.

    Returns:
        `directory` as a string.

    Raises:
        FileExistsError: `directory` is there already.
        ValueError: as for `open_archive`.
        OSError: it cannot be written.
    """
    directory = os.path.abspath(directory)
    shown = shown or directory
    if os.path.lexists(directory):
        raise FileExistsError(f"`directory` must not exist yet. Received: {shown}.")
    with temporary_beside(directory) as temporary, open_archive(archive) as members:
        try:
            os.makedirs(temporary)
            for member, copy in members:
                _write_member(os.path.join(temporary, *member.name.split("/")), copy)
            os.rename(temporary, directory)
        except OSError as error:
            if os.path.lexists(directory):
                raise FileExistsError(f"{shown} was made by another process.") from None
            raise cannot_write(shown, error) from None
    return directory


def _write_member(path, copy):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "xb") as file:
        copy(file.write)


@contextlib.contextmanager
def _readable(path):
    """Turns what the archive modules raise on a damaged file into one error."""
    try:
        yield
    except RefusedError:
        raise
    except DAMAGE as error:
        raise ValueError(
            f"{path} must be a readable archive. Received a damaged or encrypted one, or another "
            f"kind of file ({error}). Download it again, or give another."
        ) from None


def _checked(found, path):
    files, folders, total, count = set(), set(), 0, 0
    while True:
        with _readable(path):
            entry = next(found, None)
        if entry is None:
            return
        raw_name, size, opened = entry
        count, total = count + 1, total + size
        if count > MOST_MEMBERS or total > LARGEST_TOTAL:
            raise RefusedError(
                f"{path} must hold at most {MOST_MEMBERS:,} members of {LARGEST_TOTAL:,} bytes "
                "together. Received more. Unpack by hand what you need of it."
            )
        name = _safe_name(raw_name, path)
        if opened is None:
            continue
        _note_name(name, files, folders, path)
        yield Member(name, size), functools.partial(_copy, opened, size, f"{path}:{name}", path)


def _safe_name(name, path):
    parts = [part for part in name.split("/") if part not in ("", ".")]
    leaves = name.startswith("/") or ".." in parts or re.match(r"[A-Za-z]:", name)
    if leaves or "\\" in name or "\0" in name:
        raise RefusedError(
            f"{path} must hold members below its own folder. Received the name {name!r}. "
            "Do not use this archive."
        )
    return "/".join(parts)


def _note_name(name, files, folders, path):
    parts = name.split("/")
    above = {"/".join(parts[:end]) for end in range(1, len(parts))}
    if not name or name in files or name in folders or above & files:
        raise RefusedError(
            f"{path} must hold every member once. Received {name!r} twice. Do not use this archive."
        )
    files.add(name)
    folders |= above


def _copy(opened, size, name, path, write):
    """Hands a member's bytes to `write`; no more of them are read than the archive says."""
    done = 0
    with _readable(path):
        stream = opened()
    with stream:
        while True:
            with _readable(path):
                piece = stream.read(CHUNK)
            if not piece:
                break
            done += len(piece)
            if done > size:
                raise RefusedError(
                    f"{name} must have {size:,} bytes, as its header says. Received more. "
                    "Do not use this archive."
                )
            write(piece)
    if done != size:
        raise ValueError(
            f"{path} must be a readable archive. Received a damaged one: {name} has {done:,} of "
            f"{size:,} bytes. Download it again."
        )


def _is_zip(path):
    """Whether a file is a zip archive; one that merely ends with a zip archive is not."""
    with open(path, "rb") as file:
        return file.read(2) == b"PK" and zipfile.is_zipfile(path)


def _zip_members(archive, path):
    for info in archive.infolist():
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise _no_file(info.orig_filename, path)
        opened = None if info.is_dir() else functools.partial(archive.open, info)
        yield info.orig_filename, info.file_size, opened


def _no_file(name, path):
    return RefusedError(
        f"{path} must hold files and folders only. Received {name!r}, a link or a device. "
        "Do not use this archive."
    )


@contextlib.contextmanager
def _open_tar(path):
    with open(path, "rb") as file:
        start = file.read(6)
    opener = next((open_ for magic, open_ in OPENERS.items() if start.startswith(magic)), open)
    with opener(path, "rb") as stream, tarfile.open(fileobj=_Bounded(stream), mode="r:") as archive:
        yield archive


def _tar_members(archive, path):
    for info in archive:
        if info.size < 0 or info.issparse() or not (info.isreg() or info.isdir()):
            raise _no_file(info.name, path)
        opened = None if info.isdir() else functools.partial(archive.extractfile, info)
        yield info.name, info.size, opened
    # tarfile takes a broken header for the end.
    if archive.fileobj.last.strip(b"\0") or not archive.fileobj.ended:
        raise ValueError("it breaks off")


class _Bounded:
    """A stream that refuses single reads of a size that only a forged header asks for."""

    def __init__(self, stream):
        self._stream = stream
        self.seek, self.tell = stream.seek, stream.tell
        self.last = b""

    @property
    def ended(self):
        """Whether what was read last can be the end: a block, or nothing of a compressed stream."""
        return len(self.last) == tarfile.BLOCKSIZE or (
            not self.last and not isinstance(self._stream, io.BufferedReader)
        )

    def read(self, size=-1):
        if not 0 <= size <= LARGEST_READ:
            raise ValueError(f"a header of {size} bytes")
        self.last = self._stream.read(size)
        return self.last
