"""A file that survives any kind of end."""

import hashlib
import io
import json
import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None

PAGE = 512
START_AGAIN = "Start again with overwrite (`overwrite=True`, `--overwrite`)."


class JournaledFile(io.RawIOBase):
    """A binary file that holds, after any end of the process, what it held at its last commit.

    It lies in a directory of its own, `data` beside `journal`. What is written beyond the size of
    the last commit goes into `data` at once; it is cut off again if no commit follows. What is
    written below that size is held in memory, by pages. A commit first puts those pages into a new
    journal, which takes the place of the old one in one step, and only then into `data`; opening
    does the second half again. So memory is bounded by what changes between two commits.

    A write that fails raises in `check`, not where it happens: from then on nothing is written,
    and a library that writes through this file can still be closed in order.

    Args:
        directory: path of the directory, made where it does not exist.
        overwrite: bool, whether to start anew where journal or data are damaged.

    Attributes:
        note: dict that the last commit was given; None where there was none.

    Raises:
        BlockingIOError: Another process writes there.
        ValueError: The journal or the data are damaged, or there are data without a journal.
    """

    def __init__(self, directory, overwrite=False):
        self._file = None
        self._directory = Path(directory)
        self._directory.mkdir(exist_ok=True)
        self._pages = {}  # Number of a page below the committed size, to its bytes.
        self._position = self._size = self._committed_pages = 0
        self._failure = None
        self.note = None
        self._file = self._open()
        try:
            _lock(self._file, self._directory)
            self._recover(overwrite)
        except BaseException:
            self.close()
            raise

    @property
    def _data(self):
        return self._directory / "data"

    @property
    def _journal(self):
        return self._directory / "journal"

    def _open(self):
        try:
            return open(self._data, "r+b", buffering=0)
        except FileNotFoundError:
            self._journal.unlink(missing_ok=True)
            return open(self._data, "x+b", buffering=0)

    def _recover(self, overwrite):
        size = os.fstat(self._file.fileno()).st_size
        if not self._journal.exists():
            if size:
                raise ValueError(
                    f"{self._data} must have a journal beside it. Received: none. Move that file "
                    "away, or give another output."
                )
            self.reset()
            return
        try:
            header, pages = _unpack(self._journal.read_bytes(), self._journal)
            _check_size(size, header["size"], self._data)
        except ValueError:
            if not overwrite:
                raise
            self.reset()
            return
        self.note = header["note"]
        self._apply(pages, header["size"])

    def reset(self):
        """Forgets everything that was written, and makes that lasting."""
        self._replace_journal(_pack(0, {}, None))
        self.note = None
        self._apply({}, 0)

    def commit(self, note):
        """Makes lasting what was written since the last commit.

        Args:
            note: dict that JSON can hold, given back as `note` after opening.

        Raises:
            OSError: It cannot be written; the last commit stays.
        """
        self.check()
        if os.fstat(self._file.fileno()).st_size < self._size:
            self._file.truncate(self._size)
        os.fsync(self._file.fileno())
        self._replace_journal(_pack(self._size, self._pages, note))
        self.note = note
        self._apply(self._pages, self._size)

    def check(self):
        """Raises what a write has failed with, if one has."""
        if self._failure is not None:
            raise self._failure

    def abandon(self):
        """Writes nothing any more: what follows the last commit is given up."""
        self._failure = self._failure or ValueError(f"{self._data} was given up.")

    def publish(self, path):
        """Moves the file, as it was committed, to its place and removes the directory."""
        os.fsync(self._file.fileno())
        self.close()
        os.replace(self._data, path)
        _sync_directory(Path(path).parent)
        self._journal.unlink(missing_ok=True)
        try:
            self._directory.rmdir()
        except OSError:  # somebody else's files are in it
            pass

    def readable(self):
        return True

    def writable(self):
        return True

    def seekable(self):
        return True

    def seek(self, offset, whence=os.SEEK_SET):
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = base + offset
        return self._position

    def tell(self):
        return self._position

    def truncate(self, size=None):
        self._size = self._position if size is None else size
        return self._size

    def readinto(self, buffer):
        view = memoryview(buffer).cast("B")
        length = max(0, min(len(view), self._size - self._position))
        for start, stop, page in self._parts(self._position, self._position + length):
            at = start - self._position
            view[at : at + stop - start] = self._read(start, stop, page)
        self._position += length
        return length

    def write(self, data):
        data = memoryview(data).cast("B")
        try:
            self._write(data)
        except BaseException as error:
            self._failure = self._failure or error
        self._position += len(data)
        self._size = max(self._size, self._position)
        return len(data)

    def close(self):
        if self._file is not None:
            self._file.close()
        super().close()

    def _write(self, data):
        first = self._position
        for start, stop, page in self._parts(first, first + len(data)):
            if self._failure is not None:
                return
            piece = data[start - first : stop - first]
            if page is None:
                self._to_file(start, piece)
            else:
                held = self._pages.get(page) or self._held(page)
                held[start - page * PAGE : stop - page * PAGE] = piece

    def _held(self, page):
        self._pages[page] = bytearray(self._from_file(page * PAGE, (page + 1) * PAGE))
        return self._pages[page]

    def _read(self, start, stop, page):
        if page in self._pages:
            return self._pages[page][start - page * PAGE : stop - page * PAGE]
        return self._from_file(start, stop)

    def _from_file(self, start, stop):
        self._file.seek(start)
        return self._file.read(stop - start).ljust(stop - start, b"\0")

    def _to_file(self, start, content):
        self._file.seek(start)
        content = memoryview(content)
        while content:  # at most 2 GiB at once are taken, and less where the disk is nearly full
            content = content[self._file.write(content) :]

    def _parts(self, start, stop):
        """Yields (start, stop, page) of the pages of a range; page None is beyond the commit."""
        committed = self._committed_pages * PAGE
        while start < min(stop, committed):
            page = start // PAGE
            end = min(stop, (page + 1) * PAGE)
            yield start, end, page
            start = end
        if start < stop:
            yield start, stop, None

    def _apply(self, pages, size):
        for page, content in pages.items():
            self._to_file(page * PAGE, content)
        self._file.truncate(size)
        self._pages = {}
        self._size = size
        self._committed_pages = -(-size // PAGE)

    def _replace_journal(self, content):
        temporary = self._journal.with_suffix(".new")
        try:
            with open(temporary, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self._journal)
        finally:
            temporary.unlink(missing_ok=True)
        _sync_directory(self._directory)


def _pack(size, pages, note):
    header = json.dumps({"size": size, "pages": list(pages), "note": note}).encode() + b"\n"
    content = header + b"".join(pages.values())
    return hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def _unpack(content, name):
    digest, _, content = content.partition(b"\n")
    if hashlib.sha256(content).hexdigest().encode() != digest:
        raise ValueError(f"{name} must be whole. Received a damaged file. {START_AGAIN}")
    line, _, body = content.partition(b"\n")
    header = json.loads(line)
    pages = {n: body[k * PAGE : (k + 1) * PAGE] for k, n in enumerate(header["pages"])}
    return header, pages


def _check_size(size, least, name):
    if size < least:
        raise ValueError(
            f"{name} must hold at least {least:,} bytes. Received: {size:,}. {START_AGAIN}"
        )


def _lock(file, directory):
    """Keeps other processes out; the system lets go of the lock when the process ends."""
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BlockingIOError(
            f"{directory} is being written by another process. Wait for its end, or give another "
            "output."
        ) from None
    except OSError:  # a file system without locks
        pass


def _sync_directory(directory):
    if os.name == "nt":  # Windows cannot
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
