"""Where models come from: presets that the package ships, directories, archives, file pairs."""

import contextlib
import io
import lzma
import os
import struct
import zipfile
import zlib
from importlib import resources
from typing import NamedTuple

PRESETS = ("english-small",)
LARGEST_OPTIONS = 1 << 20
LARGEST_WEIGHTS = 4 << 30
_OF_READING = (OSError, RuntimeError, ValueError, EOFError, LookupError, struct.error)


class ModelFiles(NamedTuple):
    """The open files of a model.

    Attributes:
        options: bytes of the options file.
        options_name: its name, for messages.
        weights: path or binary file object of the weights.
        weights_name: its name, for messages.
    """

    options: bytes
    options_name: str
    weights: object
    weights_name: str


@contextlib.contextmanager
def open_model(place):
    """Find the options and weights files of a model and open them.

    Args:
        place: name of a preset, a directory, a zip archive, or a pair (options, weights) of paths.

    Yields:
        ModelFiles.

    Raises:
        FileNotFoundError: there is nothing at `place`, or a file is missing there.
        ValueError: a directory or archive holds more than one candidate.
        TypeError: `place` is none of these.
    """
    if isinstance(place, (tuple, list)):
        yield _open_pair(place)
        return
    if not isinstance(place, (str, os.PathLike)):
        raise TypeError(
            "`place` must be the name of a preset, a directory, a zip archive or a pair "
            f"(options, weights). Received: {type(place).__name__}."
        )
    with contextlib.ExitStack() as stack:
        yield _open_place(os.fspath(place), stack)


def preset_directory(name):
    """The directory of a preset that the package ships, as an importlib traversable."""
    return resources.files(__name__).joinpath(name)


def _open_place(place, stack):
    if place in PRESETS:
        directory = stack.enter_context(resources.as_file(preset_directory(place)))
        return _open_directory(os.fspath(directory))
    if os.path.isdir(place):
        return _open_directory(place)
    if os.path.isfile(place):
        return _open_archive(place, stack)
    raise FileNotFoundError(
        f"`place` must be the name of a preset {PRESETS}, a directory, a zip archive or a pair "
        f"(options, weights). Received: {place!r}, and nothing is there."
    )


def _open_pair(place):
    if len(place) != 2:
        raise ValueError(
            f"A pair of files must be (options, weights). Received {len(place)} entries: {place!r}."
        )
    options, weights = (os.fspath(path) for path in place)
    for path in (options, weights):
        if not os.path.isfile(path):
            raise FileNotFoundError(
                f"A pair must name an options file and a weights file. Received {path!r}, "
                "and no file is there."
            )
    return _read_pair(options, weights)


def _open_directory(directory):
    entries = sorted(os.listdir(directory))
    names = [name for name in entries if os.path.isfile(os.path.join(directory, name))]
    options, weights = _pick(names, directory)
    return _read_pair(os.path.join(directory, options), os.path.join(directory, weights))


def _read_pair(options, weights):
    if os.path.getsize(options) > LARGEST_OPTIONS:
        raise ValueError(
            f"{options} must be a JSON file of options. Received {os.path.getsize(options):,} "
            "bytes. Give the options file first, then the weights."
        )
    with open(options, "rb") as file:
        return ModelFiles(file.read(), options, weights, weights)


def _open_archive(place, stack):
    if not zipfile.is_zipfile(place):
        raise ValueError(
            f"{place} must be a directory or a zip archive with an options file and a weights "
            "file. Received another kind of file. For single files give the pair "
            "(options, weights)."
        )
    with _readable(place):
        archive = stack.enter_context(zipfile.ZipFile(place))
    members = [name for name in archive.namelist() if not name.startswith("__MACOSX/")]
    options, weights = _pick(members, place)
    contents = [
        _read_member(archive, options, LARGEST_OPTIONS, place),
        _read_member(archive, weights, LARGEST_WEIGHTS, place),
    ]
    return ModelFiles(
        contents[0], f"{place}:{options}", io.BytesIO(contents[1]), f"{place}:{weights}"
    )


def _read_member(archive, name, largest, place):
    size = archive.getinfo(name).file_size
    if size > largest:
        raise ValueError(
            f"{place}: {name} must be at most {largest:,} bytes. Received: {size:,}. "
            "Unpack the archive and give the pair (options, weights)."
        )
    with _readable(place):
        return archive.read(name)


@contextlib.contextmanager
def _readable(place):
    """Turns what zipfile and its decompressors raise on a damaged archive into one error."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, *_OF_READING) as error:
        raise ValueError(
            f"{place} must be a readable zip archive. Received a damaged or encrypted one "
            f"({error}). Download it again."
        ) from None


def _pick(names, place):
    plain = [name for name in names if not os.path.basename(name).startswith(".")]
    options = [name for name in plain if name.endswith(".json") and "options" in _stem(name)]
    weights = [
        name
        for name in plain
        if name.endswith((".hdf5", ".h5")) and not _stem(name).startswith("softmax")
    ]
    for kind, found in (("options (*options*.json)", options), ("weights (*.hdf5)", weights)):
        if not found:
            raise FileNotFoundError(
                f"{place} must hold one file of {kind}. Received: {plain[:12]}. "
                "Give the pair (options, weights)."
            )
        if len(found) > 1:
            raise ValueError(
                f"{place} must hold one file of {kind}. Received: {found}. "
                "Give the pair (options, weights)."
            )
    return options[0], weights[0]


def _stem(name):
    return os.path.basename(name)
