"""What a run over a corpus has done so far, on disk."""

import contextlib
import json
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from keras_elmo.basics.files import remove_scratch, whole_file

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

NOTE = "progress.json"
PART = "vectors-{:06d}.part"
START_AGAIN = "start again with overwrite (`overwrite=True`, `--overwrite`)"


class PartialOutput:
    """A directory of parts, one for each window of lines, and a note of how far they go.

    Each part appears whole, and then the note that counts it: whatever ends the process, what the
    note tells is there. Other processes are kept out until `close`.

    A part is a line of JSON, `dtype`, the `lines` and the `shapes` of their vectors, and then the
    vectors, one after the other. `note` is the dict that was saved last, None where there was none;
    where it or a part is damaged, `overwrite` starts anew, and without it a ValueError is raised.
    """

    def __init__(self, directory: str | os.PathLike, overwrite: bool = False):
        self._directory = Path(directory)
        self._directory.mkdir(exist_ok=True)
        self._lock = _locked(self._directory)
        try:
            remove_scratch(self._directory)
            self.note = self._read_note(overwrite)
        except BaseException:
            self.close()
            raise

    def begin(self, note: dict) -> None:
        """Forgets all parts, and saves a first note."""
        self._save_note({**note, "parts": 0})
        for part in self._parts_there():
            part.unlink()

    @contextlib.contextmanager
    def next_part(self, lines: list[str], shapes: list[tuple], dtype: str) -> Iterator[Callable]:
        """Gives a function `put(k, vectors)` that writes the vectors of the part's line k.

        All lines must be put, in any order. The part counts from the next `save` on.
        """
        header = json.dumps({"dtype": dtype, "lines": lines, "shapes": shapes})
        sizes = [math.prod(shape) * np.dtype(dtype).itemsize for shape in shapes]
        with whole_file(self._part(self.note["parts"])) as path, open(path, "wb") as file:
            file.write(header.encode() + b"\n")
            places = file.tell() + np.cumsum([0, *sizes])

            def put(number, vectors):
                file.seek(places[number])
                file.write(np.ascontiguousarray(vectors))

            yield put

    def save(self, note: dict) -> None:
        """Makes lasting that one more part is there, with the note."""
        self._save_note({**note, "parts": self.note["parts"] + 1})

    def lines(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yields every line of all parts and its vectors."""
        for number in range(self.note["parts"]):
            yield from _read_part(self._part(number))

    @contextlib.contextmanager
    def whole(self, path: str | os.PathLike) -> Iterator[Path]:
        """Gives a new file to write, which moves to `path`; then the directory is removed.

        The directory stays where files of others are in it.
        """
        with whole_file(path, written_in=self._directory) as file:
            yield file
        for own in (self._directory / NOTE, *self._parts_there()):
            own.unlink()
        with contextlib.suppress(OSError):
            self._directory.rmdir()

    def close(self) -> None:
        """Lets other processes in."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _part(self, number):
        return self._directory / PART.format(number)

    def _parts_there(self):
        return sorted(self._directory.glob(PART.replace("{:06d}", "*")))

    def _read_note(self, overwrite):
        path = self._directory / NOTE
        if not path.exists():
            return None
        try:
            note = json.loads(path.read_bytes())
            parts = map(self._part, range(note["parts"]))
            damage = [f"without {part.name}" for part in parts if not part.exists()]
        except (KeyError, TypeError, ValueError):
            damage = ["a damaged file"]
        if not damage:
            return note
        if overwrite:
            return None
        raise ValueError(
            f"{path} must be whole, and the parts that it counts beside it. Received: {damage[0]}. "
            f"To embed the text anew, {START_AGAIN}."
        )

    def _save_note(self, note):
        with whole_file(self._directory / NOTE) as path:
            path.write_text(json.dumps(note), encoding="utf-8")
        self.note = note


def _read_part(path):
    with open(path, "rb") as file:
        header = json.loads(file.readline())
        dtype = np.dtype(header["dtype"])
        for line, shape in zip(header["lines"], header["shapes"], strict=True):
            size = math.prod(shape) * dtype.itemsize
            content = file.read(size)
            if len(content) < size:
                raise ValueError(
                    f"{path} must be whole. Received a file that was cut. To embed the text anew, "
                    f"{START_AGAIN}."
                )
            yield line, np.frombuffer(content, dtype).reshape(shape)


def _locked(directory):
    """A handle that keeps other processes out; the system lets go of it when the process ends."""
    if fcntl is None:
        return None
    handle = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise BlockingIOError(
            f"{directory} is being written by another process. Wait for its end, or give another "
            "output."
        ) from None
    except OSError:  # a file system without locks
        pass
    return handle
