"""Arrays of texts by their key, in memory or in files that are mapped into it."""

import hashlib
import os
import threading
import uuid
import zipfile
from collections.abc import Iterable, Sequence

import numpy as np

from keras_elmo.basics.files import whole_files

DIGEST_SIZE = 16
PART_BYTES = 256 << 20  # in memory before they are written, where there is a directory
ROWS, INDEX = ".rows.npy", ".index.npz"  # the two files of a part


class FeatureStore:
    """Rows of numbers for texts, each text's under its key. Any thread may use it.

    With a directory, rows are written there in parts of two files. Processes write parts of their
    own, so several may share a directory; each sees what was complete when it started.

    Args:
        row_shape: shape of a row.
        dtype: name of the rows' dtype.
        most_bytes: bytes to keep at most.
        directory: where to keep them, or None for memory.

    Attributes:
        n_bytes: bytes that are kept.
    """

    def __init__(
        self,
        row_shape: Sequence[int],
        dtype: str,
        most_bytes: int,
        directory: str | os.PathLike | None = None,
    ):
        self.row_shape = tuple(row_shape)
        self.dtype = np.dtype(dtype)
        self.most_bytes = most_bytes
        self.directory = directory
        self.n_bytes = 0
        self._rows: dict[bytes, np.ndarray] = {}  # by digest
        self._unwritten: list[tuple] = []  # (digests, rows, lengths) that no file has yet
        self._lock = threading.RLock()
        if directory is not None:
            os.makedirs(directory, exist_ok=True)
            for name in sorted(os.listdir(directory)):
                if name.endswith(INDEX):
                    self._open_part(name.removesuffix(INDEX))

    def __len__(self):
        return len(self._rows)

    def missing(self, keys: Iterable[bytes]) -> np.ndarray:
        """The numbers of the keys without rows, each key once: int64."""
        first: dict[bytes, int] = {}
        for number, key in enumerate(keys):
            first.setdefault(_digest(key), number)
        return np.array([n for d, n in first.items() if d not in self._rows], np.int64)

    def put(self, keys: Sequence[bytes], rows: np.ndarray, lengths: Sequence[int]) -> bool:
        """Keeps the rows of texts; gives whether there was room for them.

        Args:
            keys: one a text.
            rows: `(sum of lengths, *row_shape)`.
            lengths: number of rows of each text.
        """
        rows = np.ascontiguousarray(rows, self.dtype)
        digests = [_digest(key) for key in keys]
        with self._lock:
            if self.n_bytes + rows.nbytes > self.most_bytes:
                return False
            self._add(digests, rows, lengths)
            if self.directory is not None:
                self._unwritten.append((digests, rows, np.asarray(lengths)))
                if sum(rows.nbytes for _, rows, _ in self._unwritten) >= PART_BYTES:
                    self.flush()
        return True

    def get(
        self, keys: Iterable[bytes], others: dict[bytes, np.ndarray] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The rows `(sum of lengths, *row_shape)` and their numbers, int64, of texts.

        Args:
            keys: one a text.
            others: rows by key, of texts that there was no room for.

        Raises:
            KeyError: a text's rows are neither here nor there.
        """
        others = {_digest(key): rows for key, rows in (others or {}).items()}
        digests = map(_digest, keys)
        found = [others[d] if d in others else self._rows[d] for d in digests]
        lengths = np.array([len(rows) for rows in found], np.int64)
        empty: np.ndarray = np.empty((0, *self.row_shape), self.dtype)
        return np.concatenate([empty, *found], dtype=self.dtype), lengths

    def flush(self) -> None:
        """Writes to files what is in memory only, where there is a directory."""
        with self._lock:
            if self.directory is None or not self._unwritten:
                return
            digests, rows, lengths = zip(*self._unwritten, strict=True)
            joined = np.frombuffer(b"".join(d for part in digests for d in part), np.uint8)
            name = uuid.uuid4().hex
            with whole_files(self.directory) as folder:
                np.save(folder / f"{name}{ROWS}", np.concatenate(rows), allow_pickle=False)
                np.savez(
                    folder / f"{name}{INDEX}",
                    digests=joined.reshape(-1, DIGEST_SIZE),
                    lengths=np.concatenate(lengths),
                )
            self.n_bytes -= sum(part.nbytes for part in rows)
            self._unwritten = []
            self._open_part(name)

    def _add(self, digests, rows, lengths):
        self.n_bytes += rows.nbytes
        ends = np.cumsum(lengths, dtype=np.int64)
        begins = ends - lengths
        places = zip(digests, begins, ends, strict=True)
        self._rows.update({digest: rows[begin:end] for digest, begin, end in places})

    def _open_part(self, name):
        """Maps a part; one that is damaged counts as absent: its texts are computed anew."""
        path = os.path.join(self.directory, name)
        try:
            with open(path + INDEX, "rb") as file:
                index = np.load(file, allow_pickle=False)
                digests, lengths = index["digests"], index["lengths"]
            rows = np.load(path + ROWS, mmap_mode="r", allow_pickle=False).view(np.ndarray)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return
        if rows.shape == (lengths.sum(), *self.row_shape) and rows.dtype == self.dtype:
            self._add([digest.tobytes() for digest in digests], rows, lengths)


def _digest(key):
    return hashlib.blake2b(key, digest_size=DIGEST_SIZE).digest()
