"""Vectors of lines to one file, by the lines' numbers."""

import io
import json
import os
import zipfile
from collections.abc import Iterable

import h5py
import numpy as np

LIBRARY_VERSIONS = ("v108", "v108")  # groups of any size, of which HDF5 holds a part in memory
MOST_BYTES_OF_INDEX = 16 << 20

Lines = Iterable[tuple[str, np.ndarray]]


def write_hdf5(path: str | os.PathLike, lines: Lines, facts: dict) -> None:
    """Writes datasets `"0"`, `"1"`, ... with their lines, and `sentence_to_index`.

    Each dataset has its line as the attribute `text`; a NUL in it, which HDF5 cannot hold, is
    written as U+FFFD. `sentence_to_index` is AllenNLP's: JSON of sentence to first line. `facts`,
    str, numbers or lists of numbers, become attributes of the file.
    """
    first = _FirstLines()
    with _Hdf5File(path) as file, h5py.File(file, "w", libver=LIBRARY_VERSIONS) as hdf5:
        for number, (text, vectors) in enumerate(lines):
            dataset = hdf5.create_dataset(str(number), data=vectors, track_times=False)
            dataset.attrs["text"] = text.replace("\0", "\ufffd")
            first.add(number, text)
            file.check()
        hdf5.attrs.update(facts)
        if first.index is not None:
            index = json.dumps(first.index, ensure_ascii=False)
            hdf5.create_dataset("sentence_to_index", (1,), h5py.string_dtype(), data=[index])


def write_npz(path: str | os.PathLike, lines: Lines, facts: dict) -> None:
    """Writes arrays `"0"`, `"1"`, ..., not compressed; facts are JSON in the archive's comment."""
    with zipfile.ZipFile(path, "w") as archive:
        for number, (_, vectors) in enumerate(lines):
            with archive.open(f"{number}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, vectors, allow_pickle=False)
        archive.comment = json.dumps(facts).encode()


WRITERS = {"hdf5": write_hdf5, "npz": write_npz}


class _FirstLines:
    """The first line of each distinct sentence, `index`; None where they are too many.

    It must be whole in memory, of the writer and of every reader.
    """

    def __init__(self):
        self.index, self._bytes = {}, 0

    def add(self, number, text):
        if self.index is None or text in self.index:
            return
        self.index[text] = str(number)
        self._bytes += len(text.encode())
        if self._bytes > MOST_BYTES_OF_INDEX:
            self.index = None


class _Hdf5File(io.FileIO):
    """A file for HDF5, which ends the process where it cannot write what it holds back.

    So a write that fails raises in `check` and at the end of `with`, and none is tried after it.
    """

    def __init__(self, path):
        super().__init__(path, "w+")
        self._failure = None

    def write(self, data):
        data = memoryview(data).cast("B")
        rest = data
        try:
            while rest and self._failure is None:  # at most 2 GiB are taken at once
                rest = rest[super().write(rest) :]
        except BaseException as error:
            self._failure = error
        return len(data)

    def truncate(self, size=None):
        if self._failure is None:
            super().truncate(size)

    def check(self):
        if self._failure is not None:
            raise self._failure

    def __exit__(self, *error):
        super().__exit__(*error)
        if error[0] is None:
            self.check()
