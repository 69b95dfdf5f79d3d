"""Checkpoints of a training run: one file each, whole or absent, the last few kept."""

import json
import os
import re
import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

NAME = "step-{:09d}.npz"
PATTERN = re.compile(r"step-(\d{9,})\.npz")
NOTES = "notes"
WRITING = ".writing-"


class Checkpoint(NamedTuple):
    """What a run needs to go on.

    Attributes:
        step: int, steps done.
        arrays: dict of name to array.
        notes: dict that JSON can hold.
    """

    step: int
    arrays: dict
    notes: dict


class Checkpoints:
    """The checkpoints in a directory.

    Each is a zip of arrays (`.npz`) without pickle, with a checksum for each array. It is written
    under a temporary name, flushed to the disk and then renamed.

    Args:
        directory: where they lie; made when the first is written.
        keep: int, how many are kept; older ones are removed after a new one is there.
    """

    def __init__(self, directory, keep=3):
        self.directory = Path(directory)
        self.keep = keep

    def paths(self):
        """The checkpoints' paths, oldest first."""
        if not self.directory.is_dir():
            return []
        found = [path for path in self.directory.iterdir() if PATTERN.fullmatch(path.name)]
        return sorted(found, key=_step_of)

    def save(self, checkpoint):
        """Write a checkpoint, then remove those before the last `keep` and those of later steps.

        Raises:
            OSError: it could not be written; those before are kept.
        """
        self.directory.mkdir(parents=True, exist_ok=True)
        path = self.directory / NAME.format(checkpoint.step)
        notes = np.frombuffer(json.dumps(checkpoint.notes).encode(), np.uint8)
        self._remove_unfinished()
        scratch = self.directory / f"{WRITING}{path.name}"
        try:
            with open(scratch, "wb") as file:
                np.savez(file, **checkpoint.arrays, **{NOTES: notes})
                file.flush()
                os.fsync(file.fileno())
            os.replace(scratch, path)
        finally:
            scratch.unlink(missing_ok=True)
        self._flush_names()
        self._remove_others(checkpoint.step)

    def _remove_others(self, step):
        """Removes what lies further back than `keep`, and what an abandoned run left beyond."""
        paths = self.paths()
        earlier = [path for path in paths if _step_of(path) <= step]
        for path in set(paths) - set(earlier[-self.keep :]):
            path.unlink()

    def newest(self):
        """The newest whole checkpoint and the damaged ones that are newer.

        Returns:
            `(checkpoint, damaged)`: Checkpoint or None where there is none, and a list of
            `(path, reason)`.
        """
        damaged = []
        for path in reversed(self.paths()):
            try:
                return _read(path), damaged
            except _DAMAGES as error:
                damaged.append((path, str(error)))
        return None, damaged

    def _remove_unfinished(self):
        """Removes what a killed process had begun to write."""
        for path in self.directory.glob(f"{WRITING}*"):
            path.unlink(missing_ok=True)

    def _flush_names(self):
        if os.name == "nt":  # Windows opens no directories
            return
        handle = os.open(self.directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _step_of(path):
    return int(PATTERN.fullmatch(path.name)[1])


# What zipfile and NumPy raise, whatever bytes they are given.
_DAMAGES = (OSError, ValueError, KeyError, NotImplementedError, zipfile.BadZipFile, zlib.error)


def _read(path):
    with zipfile.ZipFile(path) as file:
        if bad := file.testzip():
            raise ValueError(f"wrong checksum of {bad}")
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    notes = json.loads(arrays.pop(NOTES).tobytes())
    return Checkpoint(_step_of(path), arrays, notes)
