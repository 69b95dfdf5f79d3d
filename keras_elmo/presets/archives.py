"""Zip and tar archives: what they may hold, how they are read, and unpacked below one folder."""

import bz2
import contextlib
import errno
import functools
import gzip
import io
import lzma
import os
import platform
import posixpath
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

MOST_MEMBERS = 10_000
LARGEST_TOTAL = 16 << 30
LARGEST_READ = 4 << 20
OPENERS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
ZIP_TYPES = {0: tarfile.REGTYPE, stat.S_IFREG: tarfile.REGTYPE, stat.S_IFDIR: tarfile.DIRTYPE}
DAMAGE = (
    *(RuntimeError, ValueError, EOFError, LookupError, OSError, struct.error),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, tarfile.TarError),
)


class Member(NamedTuple):
    """A file of an archive."""

    name: str  # its path, with `/` and without a leading `./`
    size: int  # bytes, as the archive says; no more are read
    copy_to: Callable[[BinaryIO], None]  # into a file; until the next member is asked for


class RefusedError(ValueError):
    """An archive is readable, but what it holds is not let through."""


def is_archive(path: str | os.PathLike) -> bool:
    """Whether a file is a zip archive, or a tar archive, plain or by gzip, bzip2 or xz."""
    try:
        with _readable(path):
            next(_entries(path), None)
    except ValueError:
        return False
    return True


def members_of(path: str | os.PathLike) -> Iterator[Member]:
    """Yields the files of a zip or tar archive; directories are left out, nothing is written.

    Raises:
        ValueError: the file is no archive or is damaged; a member is a link, a device or
            encrypted, would leave the folder or comes twice; there are more than `MOST_MEMBERS`,
            or of more than `LARGEST_TOTAL` bytes.
    """
    names, total = set(), 0
    with _readable(path):
        for count, (info, opened) in enumerate(_entries(path), 1):
            total += info.size
            if count > MOST_MEMBERS or total > LARGEST_TOTAL:
                raise RefusedError(
                    f"{path} must hold at most {MOST_MEMBERS:,} members of {LARGEST_TOTAL:,} bytes "
                    "together. Received more. Unpack by hand what you need of it."
                )
            _check(info, path)
            name = posixpath.normpath(info.name)
            if name in names:
                raise _refused(path, f"{name!r} twice")
            if info.isreg():
                names.add(name)
                yield Member(name, info.size, functools.partial(_copy, opened, path))


def unpack(archive: str | os.PathLike, directory: str | os.PathLike) -> None:
    """Writes the files of an archive below a directory, with modes after the umask."""
    for member in members_of(archive):
        path = Path(directory, member.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "xb") as file:
            member.copy_to(file)


def _copy(opened, path, file):
    with _readable(path), opened() as source:
        shutil.copyfileobj(source, file)


@contextlib.contextmanager
def _readable(path):
    """Turns what the archive modules raise on a damaged file into one error."""
    try:
        yield
    except RefusedError:
        raise
    except DAMAGE as error:
        if getattr(error, "errno", None) not in (None, errno.EINVAL):
            raise  # It is the disk's.
        raise ValueError(
            f"{path} must be a readable archive. Received a damaged or encrypted one, or another "
            f"kind of file ({error}). Download it again, or give another."
        ) from None


def _check(info, path):
    """Raises for a member that tarfile's data filter refuses or would change, and for links."""
    if not hasattr(tarfile, "data_filter"):
        raise ImportError(
            "Archives must be read with Python 3.10.12, 3.11.4 or later, whose `tarfile` tells "
            f"what would leave a folder. Received: {platform.python_version()}. Unpack {path} by "
            "hand and give the directory."
        )
    try:
        kept = tarfile.data_filter(info, os.fspath(path))
    except tarfile.FilterError as error:
        raise _refused(path, str(error)) from None
    if not (info.isreg() or info.isdir()):
        raise _refused(path, f"{info.name!r}, a link or a device")
    if kept.name != info.name:
        raise _refused(path, f"the absolute path {info.name!r}")


def _refused(path, received):
    return RefusedError(
        f"{path} must hold files and folders below its own folder, each once. Received: "
        f"{received}. Do not use this archive."
    )


def _entries(path):
    """Yields a TarInfo and a function that opens its file, for each member, zip or tar."""
    with open(path, "rb") as file:
        start = file.read(6)
        # One that merely ends with a zip archive is none.
        if start.startswith(b"PK") and zipfile.is_zipfile(file):
            yield from _zip_entries(path)
            return
    opener = next((open_ for magic, open_ in OPENERS.items() if start.startswith(magic)), open)
    with opener(path, "rb") as stream:
        yield from _tar_entries(_Bounded(stream))


def _zip_entries(path):
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            info = tarfile.TarInfo(member.orig_filename)
            info.size = member.file_size
            kind = ZIP_TYPES.get(stat.S_IFMT(member.external_attr >> 16), tarfile.CHRTYPE)
            info.type = tarfile.DIRTYPE if member.is_dir() else kind
            yield info, functools.partial(archive.open, member)


def _tar_entries(stream):
    with tarfile.open(fileobj=stream, mode="r:") as archive:
        for info in archive:
            if info.size < 0:
                raise ValueError(f"a size of {info.size}")
            yield info, functools.partial(archive.extractfile, info)
        # tarfile takes a broken header for the end.
        if stream.last.strip(b"\0") or not stream.ended:
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
