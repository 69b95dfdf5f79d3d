"""Vectors by line number in an HDF5 file."""

import h5py

# Groups of any size without reading them whole, and a file that can go on after it was flushed.
LIBRARY_VERSIONS = ("v108", "v108")


class HDF5Store:
    """Writes the vectors of lines as datasets `"0"`, `"1"`, ... of an HDF5 file.

    Each dataset has its line as the attribute `text`; a NUL in it, which HDF5 cannot hold, is
    written as U+FFFD. Facts about the whole are attributes of the file.

    Args:
        file: JournaledFile to write through.
        is_new: bool, whether the file begins, or goes on.

    Raises:
        ValueError: `file` is to go on but is no HDF5 file.
    """

    def __init__(self, file, is_new):
        self._file = file
        self._hdf5 = h5py.File(file, "w" if is_new else "r+", libver=LIBRARY_VERSIONS)

    def add(self, number, vectors, text):
        """Adds a line.

        Args:
            number: int, the line's, from 0.
            vectors: NumPy array.
            text: str, the line.
        """
        dataset = self._hdf5.create_dataset(str(number), data=vectors, track_times=False)
        dataset.attrs["text"] = text.replace("\0", "\ufffd")
        self._file.check()

    def flush(self):
        """Hands everything that was added to the file."""
        self._hdf5.flush()
        self._file.check()

    def finish(self, facts, sentence_to_index):
        """Adds what is known at the end.

        Args:
            facts: dict of str to str, numbers or lists of numbers.
            sentence_to_index: JSON str, as AllenNLP's dataset of this name, or None.
        """
        self._hdf5.attrs.update(facts)
        if sentence_to_index is not None:
            self._hdf5.create_dataset(
                "sentence_to_index", (1,), h5py.string_dtype(), data=[sentence_to_index]
            )

    def close(self):
        """Hands the rest to the file and lets go of it."""
        self._hdf5.close()
        self._file.check()
