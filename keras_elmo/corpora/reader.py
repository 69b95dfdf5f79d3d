"""Text files to windows of lines."""

import hashlib
import itertools
import os
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from keras_elmo.basics.by_length import neighbours
from keras_elmo.basics.text_files import lines_of

LINES_AT_ONCE = 2048
BYTES_AT_ONCE = 256 << 10


class CorpusReader:
    """Reads text once, a window of lines at a time; every line counts, blank ones too.

    A window has 2,048 lines or 256 KiB at most, or is one line, so memory does not grow with the
    text. Files are what `lines_of` reads, and raise what it raises when it is their turn; `n_lines`
    counts the lines that were read so far, through all of them.
    """

    def __init__(self, files: Iterable[str | os.PathLike | BinaryIO]):
        self._lines = itertools.chain.from_iterable(map(lines_of, files))
        self._digest = hashlib.sha256()
        self.n_lines = 0

    @property
    def sha256(self) -> str:
        """Of the lines so far, each with a line end, in hexadecimal digits."""
        return self._digest.hexdigest()

    def windows(self, n_lines: int | None = None) -> Iterator[list[bytes]]:
        """Yields windows up to the end, or until `n_lines` lines in all were read."""
        left = None if n_lines is None else n_lines - self.n_lines
        lines = itertools.islice(self._lines, left)
        for window in neighbours(lines, len, BYTES_AT_ONCE, LINES_AT_ONCE):
            self._digest.update(b"\n".join(window) + b"\n")
            self.n_lines += len(window)
            yield window
