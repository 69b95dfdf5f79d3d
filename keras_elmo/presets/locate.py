"""What is at a place: the one answer, from the registry and what is on disk; no request is made."""

import contextlib
import dataclasses
import enum
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keras_elmo.presets.archives import is_archive, members_of
from keras_elmo.presets.handles import Handle, handle_of, is_at_a_hub
from keras_elmo.presets.registry import PublishedModel, find_model, preset_directory

if TYPE_CHECKING:  # Python 3.14 has it elsewhere
    from importlib.abc import Traversable

SAVED_MODEL = "saved_model.pb"


class Kind(enum.Enum):
    """What can be at a place."""

    SHIPPED = "a preset that the package ships"
    PUBLISHED = "the name of a published biLM"
    DIRECTORY = "a directory"
    ARCHIVE = "a zip or tar archive"
    PAIR = "a pair of paths"
    MODULE_NAME = "a name or an address of a TF-Hub module"
    MODULE_DIRECTORY = "a directory of a TF-Hub module"
    MODULE_ARCHIVE = "a zip or tar archive of a TF-Hub module"
    OTHER_FILE = "another kind of file"
    NOTHING = "nothing"
    NO_PLACE = "neither a name nor a path"


_ON_DISK = (
    *(Kind.SHIPPED, Kind.DIRECTORY, Kind.ARCHIVE),
    *(Kind.MODULE_DIRECTORY, Kind.MODULE_ARCHIVE, Kind.OTHER_FILE),
)


@dataclasses.dataclass(frozen=True)
class Located:
    """What is at a place."""

    kind: Kind
    place: Any  # name or path as a string, a pair as a tuple of strings; what is neither as it is
    model: PublishedModel | None = None  # of a name
    handle: Handle | None = None  # of a module's name; None for another address at a hub

    @property
    def is_module(self) -> bool:
        """Whether it is a TF-Hub module."""
        return self.kind in (Kind.MODULE_NAME, Kind.MODULE_DIRECTORY, Kind.MODULE_ARCHIVE)

    @property
    def is_on_disk(self) -> bool:
        """Whether it is a file or directory by itself, in the package or elsewhere."""
        return self.kind in _ON_DISK

    @property
    def directory(self) -> "Traversable | None":
        """The directory on this machine, a shipped preset's too; None where it is none."""
        if self.kind is Kind.SHIPPED:
            return preset_directory(self.place)
        if self.kind in (Kind.DIRECTORY, Kind.MODULE_DIRECTORY):
            return Path(self.place)
        return None


def locate(place: Any) -> Located:
    """Tells what `place` is: a shipped name, else what is on disk, else another published name.

    A directory with a biLM's two files is that of a biLM, whatever else it holds; one with
    `saved_model.pb` is a TF-Hub module. Of an archive, the weights of a biLM or the
    `saved_model.pb`, at the top or in one folder, whichever comes first tells.
    """
    if isinstance(place, (tuple, list)):
        return Located(Kind.PAIR, tuple(map(os.fspath, place)))
    if not isinstance(place, (str, os.PathLike)):
        return Located(Kind.NO_PLACE, place)
    place = os.fspath(place)
    model = find_model(place)
    if model is not None and model.shipped:
        return Located(Kind.SHIPPED, place, model)
    if os.path.isdir(place):
        return Located(_kind_of_directory(place), place)
    if os.path.isfile(place):
        return Located(_kind_of_file(place), place)
    handle = handle_of(place)
    if handle is not None:
        return Located(Kind.MODULE_NAME, place, find_model(handle.key), handle)
    if is_at_a_hub(place):
        return Located(Kind.MODULE_NAME, place)
    return Located(Kind.NOTHING if model is None else Kind.PUBLISHED, place, model)


def is_options(name: str) -> bool:
    """Whether a file's name is that of a biLM's options."""
    stem = os.path.basename(name)
    return stem.endswith(".json") and "options" in stem and not stem.startswith(".")


def is_weights(name: str) -> bool:
    """Whether a file's name is that of a biLM's weights."""
    stem = os.path.basename(name)
    return stem.endswith((".hdf5", ".h5")) and not stem.startswith((".", "softmax"))


def holds_module(archive: str) -> bool:
    """Whether an archive is that of a TF-Hub module; it is read no further than needed to tell."""
    for member in members_of(archive):
        *folders, name = member.name.split("/")
        if name == SAVED_MODEL and len(folders) < 2:
            return True
        if is_weights(name):
            return False
    return False


def _kind_of_directory(path):
    names = os.listdir(path)
    is_bilm = any(map(is_options, names)) and any(map(is_weights, names))
    is_module = SAVED_MODEL in names and not is_bilm
    return Kind.MODULE_DIRECTORY if is_module else Kind.DIRECTORY


def _kind_of_file(path):
    if not is_archive(path):
        return Kind.OTHER_FILE
    with contextlib.suppress(ValueError):  # of what is refused in it, which opening it tells
        if holds_module(path):
            return Kind.MODULE_ARCHIVE
    return Kind.ARCHIVE
