"""Vectors by line number in an npz file."""

import io
import json
import os
import struct
import zlib

import numpy as np

# The zip format's records in their form for large archives: PKWARE's APPNOTE, 4.3 and 4.5.
LOCAL = struct.Struct("<4sHHHHHIIIHH")
LOCAL_EXTRA = struct.Struct("<HHQQ")
CENTRAL = struct.Struct("<4sHHHHHHIIIHHHHHII")
CENTRAL_EXTRA = struct.Struct("<HHQQQ")
END_64 = struct.Struct("<4sQHHIIQQQQ")
LOCATOR = struct.Struct("<4sIQI")
END = struct.Struct("<4sHHHHIIH")
VERSION = 45
DATE = 0x21  # 1980-01-01
ELSEWHERE = 0xFFFFFFFF  # the number is in the extra field, or in END_64
ELSEWHERE_16 = 0xFFFF
LONGEST_NAME = 32


class NpzStore:
    """Writes the vectors of lines as arrays `"0"`, `"1"`, ... of an npz file, for `np.load`.

    Arrays are stored as they come, not compressed. The directory at the end is in line order; it
    is made from what stands before each array, so that nothing need be remembered of them.
    (Python's zipfile keeps some hundred bytes of each.) Facts about the whole are JSON in the
    archive's comment. Texts are not stored.

    Args:
        file: JournaledFile to write through.
        is_new: bool, whether the file begins or goes on; both are the same here.
    """

    def __init__(self, file, is_new):
        self._file = file

    def add(self, number, vectors, text):
        """Adds a line.

        Args:
            number: int, the line's, from 0.
            vectors: NumPy array.
            text: str, the line.
        """
        header = _npy_header(vectors)
        content = np.ascontiguousarray(vectors).reshape(-1).view(np.uint8)
        crc = zlib.crc32(content, zlib.crc32(header))
        self._file.seek(0, os.SEEK_END)
        self._file.write(_local_record(f"{number}.npy", crc, len(header) + content.size))
        self._file.write(header)
        self._file.write(content)
        self._file.check()

    def flush(self):
        """Hands everything that was added to the file, which `add` has done already."""

    def finish(self, facts, sentence_to_index):
        """Adds what is known at the end: the directory, and `facts` as JSON.

        Args:
            facts: dict that JSON can hold, of at most some kilobytes.
            sentence_to_index: as for an `HDF5Store`; it is not stored.
        """
        start = end = self._file.seek(0, os.SEEK_END)
        entries = 0
        for record in _in_order(self._central_records(start)):
            self._file.seek(end)
            end += self._file.write(record)
            entries += 1
        self._file.seek(end)
        self._file.write(_end_records(entries, start, end, json.dumps(facts).encode()))
        self._file.check()

    def close(self):
        """Lets go of the file."""

    def _central_records(self, stop):
        """Yields (line number, record) of every array, in the order in which they were written."""
        offset = 0
        while offset < stop:
            self._file.seek(offset)
            head = self._file.read(LOCAL.size + LONGEST_NAME + LOCAL_EXTRA.size)
            *_, crc, _, _, name_size, extra_size = LOCAL.unpack_from(head)
            name = head[LOCAL.size : LOCAL.size + name_size]
            *_, size = LOCAL_EXTRA.unpack_from(head, LOCAL.size + name_size)
            yield int(name.removesuffix(b".npy")), _central_record(name, crc, size, offset)
            offset += LOCAL.size + name_size + extra_size + size


def _in_order(records):
    """The records of lines 0, 1, ...; those that came too early are held until it is their turn."""
    held, turn = {}, 0
    for number, record in records:
        held[number] = record
        while turn in held:
            yield held.pop(turn)
            turn += 1


def _npy_header(array):
    header = io.BytesIO()
    facts = {
        "descr": np.lib.format.dtype_to_descr(array.dtype),
        "fortran_order": False,
        "shape": array.shape,
    }
    np.lib.format.write_array_header_1_0(header, facts)
    return header.getvalue()


def _local_record(name, crc, size):
    record = LOCAL.pack(
        *(b"PK\3\4", VERSION, 0, 0, 0, DATE, crc, ELSEWHERE, ELSEWHERE),
        *(len(name), LOCAL_EXTRA.size),
    )
    return record + name.encode() + LOCAL_EXTRA.pack(1, LOCAL_EXTRA.size - 4, size, size)


def _central_record(name, crc, size, offset):
    record = CENTRAL.pack(
        *(b"PK\1\2", VERSION, VERSION, 0, 0, 0, DATE, crc, ELSEWHERE, ELSEWHERE),
        *(len(name), CENTRAL_EXTRA.size, 0, 0, 0, 0, ELSEWHERE),
    )
    return record + name + CENTRAL_EXTRA.pack(1, CENTRAL_EXTRA.size - 4, size, size, offset)


def _end_records(entries, start, stop, comment):
    if not entries:  # NumPy knows an empty archive by the plain record at its begin
        return END.pack(b"PK\5\6", 0, 0, 0, 0, 0, start, len(comment)) + comment
    size = stop - start
    return b"".join(
        [
            END_64.pack(
                *(b"PK\6\6", END_64.size - 12, VERSION, VERSION, 0, 0),
                *(entries, entries, size, start),
            ),
            LOCATOR.pack(b"PK\6\7", 0, stop, 1),
            END.pack(
                *(b"PK\5\6", 0, 0, ELSEWHERE_16, ELSEWHERE_16, ELSEWHERE, ELSEWHERE),
                len(comment),
            ),
            comment,
        ]
    )
