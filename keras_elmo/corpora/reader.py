"""Text files to windows of lines."""

import codecs
import gzip
import hashlib
import itertools
import os
import zlib

LINES_AT_ONCE = 2048
BYTES_AT_ONCE = 256 << 10
LONGEST_LINE = 16 << 20


class CorpusReader:
    """Reads text once, a window of lines at a time; every line counts, blank ones too.

    A window is full at 2,048 lines or 256 KiB, whichever comes first, so memory does not grow
    with the text. Line ends and a byte order mark are left out.

    Args:
        files: sequence of paths of UTF-8 files, gzip where the name ends in `.gz`, and of binary
            file objects, which are read from where they are.

    Attributes:
        n_lines: int, lines that were read so far, through all files.

    Raises:
        FileNotFoundError: A file is missing, when it is its turn.
        ValueError: A file is damaged or not UTF-8, or a line is longer than 16 MiB; it is named
            with the line's number in its file.
    """

    def __init__(self, files):
        self._lines = itertools.chain.from_iterable(map(lines_of, files))
        self._digest = hashlib.sha256()
        self.n_lines = 0

    @property
    def sha256(self):
        """Of the lines so far, each with a line end, in hexadecimal digits."""
        return self._digest.hexdigest()

    def window(self, most_lines=None):
        """The next lines, list of bytes; an empty one at the end.

        Args:
            most_lines: int, to read less than a full window.
        """
        lines, size = [], 0
        for line in itertools.islice(self._lines, most_lines or LINES_AT_ONCE):
            lines.append(line)
            size += len(line)
            if size >= BYTES_AT_ONCE:
                break
        if lines:
            self._digest.update(b"\n".join(lines) + b"\n")
        self.n_lines += len(lines)
        return lines

    def windows(self, n_lines=None):
        """Yields windows up to the end, or until `n_lines` lines in all were read."""
        while n_lines is None or self.n_lines < n_lines:
            lines = self.window(n_lines and min(LINES_AT_ONCE, n_lines - self.n_lines))
            if not lines:
                return
            yield lines


def lines_of(file):
    """Yields the lines of a path or binary file object, as a `CorpusReader` reads them."""
    if not isinstance(file, (str, os.PathLike)):
        name = getattr(file, "name", "<stdin>")
        yield from _checked(file, "standard input" if name in (0, "<stdin>") else str(name))
        return
    path = os.fspath(file)
    opener = gzip.open if path.endswith(".gz") else open
    try:
        with opener(path, "rb") as opened:
            yield from _checked(opened, path)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(
            f"{path} must be a whole gzip file. Received: {error}. Copy or compress it again."
        ) from None


def _checked(file, name):
    for number in itertools.count(1):
        line = file.readline(LONGEST_LINE + 1)
        if not line:
            return
        if len(line) > LONGEST_LINE:
            raise ValueError(
                f"{name}, line {number}: a line must be at most {LONGEST_LINE:,} bytes. Received "
                "a longer one. Put each sentence on its own line."
            )
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{name}, line {number}: text must be UTF-8. Received byte "
                f"{line[error.start]:#04x} at column {error.start + 1}. Convert the text to UTF-8."
            ) from None
        yield line.rstrip(b"\r\n")
