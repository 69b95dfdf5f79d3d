"""Checkpoints of a training run: one file each, whole or absent, the last few kept."""

import json
import os
import re
import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from keras_elmo.basics.files import remove_scratch, whole_file

NAME = "step-{:09d}.npz"
PATTERN = re.compile(r"step-(\d{9,})\.npz")
NOTES = "notes"


class Checkpoint(NamedTuple):
    """What a run needs to go on.

    Attributes:
        step: steps done.
        arrays: by name.
        notes: what JSON can hold.
    """

    step: int
    arrays: dict[str, np.ndarray]
    notes: dict


class Checkpoints:
    """The checkpoints in a directory.

    Each is a zip of arrays (`.npz`) without pickle, with a checksum for each array.

    Args:
        directory: where they lie; made when the first is written.
        keep: how many are kept; older ones are removed after a new one is there.
    """

    def __init__(self, directory: str | os.PathLike, keep: int = 3):
        self.directory = Path(directory)
        self.keep = keep

    def paths(self) -> list[Path]:
        """The checkpoints' paths, oldest first."""
        if not self.directory.is_dir():
            return []
        found = [path for path in self.directory.iterdir() if PATTERN.fullmatch(path.name)]
        return sorted(found, key=_step_of)

    def save(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint, then remove those before the last `keep` and those of later steps.

        Raises:
            OSError: it could not be written; those before are kept.
        """
        self.directory.mkdir(parents=True, exist_ok=True)
        remove_scratch(self.directory)
        notes = np.frombuffer(json.dumps(checkpoint.notes).encode(), np.uint8)
        path = self.directory / NAME.format(checkpoint.step)
        with whole_file(path) as scratch, open(scratch, "wb") as file:
            np.savez(file, **{**checkpoint.arrays, NOTES: notes})
        self._remove_others(checkpoint.step)

    def _remove_others(self, step):
        """Removes what lies further back than `keep`, and what an abandoned run left beyond."""
        paths = self.paths()
        earlier = [path for path in paths if _step_of(path) <= step]
        for path in set(paths) - set(earlier[-self.keep :]):
            path.unlink()

    def newest(self) -> tuple[Checkpoint | None, list[tuple[Path, str]]]:
        """The newest whole checkpoint, or None, and each damaged newer one with what is wrong."""
        damaged: list[tuple[Path, str]] = []
        for path in reversed(self.paths()):
            try:
                return _read(path), damaged
            except _DAMAGES as error:
                damaged.append((path, str(error)))
        return None, damaged


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
