"""Text files to windows of lines."""

import hashlib
import itertools
import os
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from keras_elmo.basics.text_files import lines_of

LINES_AT_ONCE = 2048
BYTES_AT_ONCE = 256 << 10


class CorpusReader:
    """Reads text once, a window of lines at a time; every line counts, blank ones too.

    A window is full at 2,048 lines or 256 KiB, whichever comes first, so memory does not grow
    with the text.

    Args:
        files: what `lines_of` reads: paths, plain or gzip, and binary file objects.

    Attributes:
        n_lines: int, lines that were read so far, through all files.

    Raises:
        OSError: A file cannot be read, when it is its turn.
        ValueError: A file is damaged or not UTF-8, or a line is too long.
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
        while n_lines is None or self.n_lines < n_lines:
            most = LINES_AT_ONCE if n_lines is None else n_lines - self.n_lines
            lines = self._window(min(LINES_AT_ONCE, most))
            if not lines:
                return
            yield lines

    def _window(self, most_lines):
        lines, size = [], 0
        for line in itertools.islice(self._lines, most_lines):
            lines.append(line)
            size += len(line)
            if size >= BYTES_AT_ONCE:
                break
        if lines:
            self._digest.update(b"\n".join(lines) + b"\n")
        self.n_lines += len(lines)
        return lines
