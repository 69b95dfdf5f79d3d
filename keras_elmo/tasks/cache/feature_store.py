"""Arrays of texts by their key, in memory or in files that are mapped into it."""

import contextlib
import hashlib
import os
import tempfile
import uuid
import zipfile
from typing import NamedTuple

import numpy as np

DIGEST_SIZE = 16
PART_BYTES = 256 << 20  # in memory before they are written, where there is a directory


class Place(NamedTuple):
    """Where a text's rows stand.

    Attributes:
        part: int, number of the array.
        begin: int, its first row there.
        length: int, number of rows.
    """

    part: int
    begin: int
    length: int


class FeatureStore:
    """Rows of numbers for texts, each text's under its key.

    With a directory, rows are written there in parts, each whole or absent: an array file and,
    after it, an index file. Processes write parts of their own, so several may share a directory;
    each sees what was complete when it started.

    Args:
        row_shape: tuple, shape of a row.
        dtype: name of the rows' dtype.
        most_bytes: int, bytes to keep at most; what does not fit is for the next `get` only.
        directory: where to keep them, or None for memory.
    """

    def __init__(self, row_shape, dtype, most_bytes, directory=None):
        self.row_shape = tuple(row_shape)
        self.dtype = np.dtype(dtype)
        self.most_bytes = most_bytes
        self.directory = directory
        self.n_bytes = 0
        self._places = {}
        self._parts = []
        self._guests = {}
        self._unwritten = []  # (digest, rows) of texts in parts that no file has yet
        if directory is not None:
            os.makedirs(directory, exist_ok=True)
            self._open_parts()

    def __len__(self):
        return len(self._places)

    def missing(self, keys):
        """The numbers of the keys without rows, each key once: int64 array."""
        first = {}
        for number, key in enumerate(keys):
            first.setdefault(_digest(key), number)
        return np.array([n for d, n in first.items() if d not in self._places], np.int64)

    def put(self, keys, rows, lengths):
        """Keep the rows of texts.

        Args:
            keys: sequence of bytes, one a text.
            rows: array `(sum of lengths, *row_shape)`.
            lengths: sequence of int, rows of each text.
        """
        digests = [_digest(key) for key in keys]
        rows = np.ascontiguousarray(rows, self.dtype)
        ends = np.cumsum(lengths, dtype=np.int64)
        begins = ends - lengths
        if self.n_bytes + rows.nbytes > self.most_bytes:
            cut = [rows[begin:end] for begin, end in zip(begins, ends, strict=True)]
            self._guests = dict(zip(digests, cut, strict=True))
            return
        self._add_part(rows, digests, begins, lengths)
        if self.directory is not None:
            self._unwritten.append((digests, rows, np.asarray(lengths)))
            if sum(rows.nbytes for _, rows, _ in self._unwritten) >= PART_BYTES:
                self.flush()

    def get(self, keys):
        """The rows of texts that are here.

        Args:
            keys: sequence of bytes, one a text.

        Returns:
            `(rows, lengths)`: array `(sum of lengths, *row_shape)` and int64 array.

        Raises:
            KeyError: a text's rows are not here.
        """
        found = [self._rows_of(_digest(key)) for key in keys]
        lengths = np.array([len(rows) for rows in found], np.int64)
        empty = np.empty((0, *self.row_shape), self.dtype)
        return np.concatenate([empty, *found]), lengths

    def flush(self):
        """Write to files what is in memory only, where there is a directory."""
        if not self._unwritten:
            return
        digests, rows, lengths = zip(*self._unwritten, strict=True)
        digests = [digest for part in digests for digest in part]
        rows, lengths = np.concatenate(rows), np.concatenate(lengths)
        name = os.path.join(self.directory, uuid.uuid4().hex)
        with _new_file(f"{name}.rows.npy") as file:
            np.save(file, rows, allow_pickle=False)
        joined = np.frombuffer(b"".join(digests), np.uint8).reshape(-1, DIGEST_SIZE)
        with _new_file(f"{name}.index.npz") as file:
            np.savez(file, digests=joined, lengths=lengths)
        for part in {self._places[digest].part for digest in digests}:
            self._parts[part] = None
        self.n_bytes -= rows.nbytes
        self._unwritten = []
        self._open_part(name)

    def _rows_of(self, digest):
        if digest in self._guests:
            return self._guests[digest]
        part, begin, length = self._places[digest]
        return self._parts[part][begin : begin + length]

    def _add_part(self, rows, digests, begins, lengths):
        number = len(self._parts)
        self._parts.append(rows)
        self.n_bytes += rows.nbytes
        places = map(Place, [number] * len(digests), begins, lengths)
        self._places.update(zip(digests, places, strict=True))

    def _open_parts(self):
        for name in sorted(os.listdir(self.directory)):
            if name.endswith(".index.npz"):
                self._open_part(os.path.join(self.directory, name.removesuffix(".index.npz")))

    def _open_part(self, name):
        """Maps a part; one that is damaged counts as absent: its texts are computed anew."""
        try:
            with open(f"{name}.index.npz", "rb") as file:
                index = np.load(file, allow_pickle=False)
                digests, lengths = index["digests"], index["lengths"]
            rows = np.load(f"{name}.rows.npy", mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return
        if rows.shape != (lengths.sum(), *self.row_shape) or rows.dtype != self.dtype:
            return
        keys = [digest.tobytes() for digest in digests]
        self._add_part(rows, keys, np.cumsum(lengths) - lengths, lengths)


def _digest(key):
    return hashlib.blake2b(key, digest_size=DIGEST_SIZE).digest()


@contextlib.contextmanager
def _new_file(path):
    """A binary file that is at `path` when the block has ended, and not before."""
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
