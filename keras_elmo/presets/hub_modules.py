"""TF-Hub modules: which names mean one, and where it lies unpacked on this machine."""

import contextlib
import hashlib
import json
import os
import tempfile

from keras_elmo.presets.archives import unpack
from keras_elmo.presets.cache import (
    cache_directory,
    cannot_write,
    make_folder,
    model_folder,
    temporary_beside,
)
from keras_elmo.presets.download import fetch, fetch_file, sha256_of
from keras_elmo.presets.handles import handle_of
from keras_elmo.presets.locate import SAVED_MODEL, Kind, holds_module, locate
from keras_elmo.presets.registry import find_model

UNPACKED = "module"
NOTE = ".files.json"
FORMS = (
    "a directory with saved_model.pb, a tar archive of one, an address https://tfhub.dev/..., a "
    "Kaggle handle as google/elmo/TensorFlow1/elmo/3, or the name of a module of `keras_elmo "
    "presets`"
)


def cached_module(name):
    """The directory of a published module that was downloaded before, or None.

    Args:
        name: address, Kaggle handle or name of the registry; `$TFHUB_CACHE_DIR` and the default
            cache of tensorflow_hub are looked into as well.
    """
    handle = handle_of(name)
    if handle is None:
        return None
    own = os.path.join(model_folder(handle.key), UNPACKED)
    for folder in (*([own] if _is_whole(own) else []), *_hub_cache(handle)):
        with contextlib.suppress(FileNotFoundError):
            return _module_in(folder, name)
    return None


def module_directory(place, mirror=None, progress=True):
    """Find a TF-Hub module on this machine, or download it.

    An archive is unpacked once into the cache. A module that tensorflow_hub has downloaded is
    used from its own cache.

    Args:
        place: what `locate` tells to be a module.
        mirror: address or directory that holds the archive under its own name, as
            `elmo_3.tar.gz`, and is tried first.
        progress: bool, whether a download shows a bar where stderr is a terminal.

    Returns:
        str, a directory with `saved_model.pb`.

    Raises:
        FileNotFoundError: nothing is at `place`, or no module is in it.
        ValueError: the archive is damaged or holds what is refused.
        ConnectionError: it is not here and cannot be downloaded.
    """
    found = locate(place)
    place, handle = found.place, found.handle
    if found.kind in (Kind.DIRECTORY, Kind.MODULE_DIRECTORY):
        return _module_in(place, place)
    if found.kind in (Kind.ARCHIVE, Kind.MODULE_ARCHIVE, Kind.OTHER_FILE):
        return _unpacked(place, os.path.join(cache_directory(), "modules", sha256_of(place)))
    if found.kind in (Kind.SHIPPED, Kind.PUBLISHED):
        raise ValueError(
            f"A TF-Hub module must be given as {FORMS}. Received: {place!r}, which is a biLM "
            "already. Load it by its name; it needs no conversion."
        )
    if handle is None:
        raise FileNotFoundError(
            f"A TF-Hub module must be given as {FORMS}. Received: {place!r}, and nothing is there."
        )
    cached = cached_module(place)
    if cached is not None:
        return cached
    return _unpacked(_fetch(handle, mirror, progress), model_folder(handle.key))


def _fetch(handle, mirror, progress):
    model = find_model(handle.key)
    if model is not None:
        return fetch(model.name, mirror, progress)["archive"]
    return fetch_file(handle.file, model_folder(handle.key), mirror, progress)


def _unpacked(archive, folder):
    """The module of an archive, which is unpacked to `folder` where that was not done before."""
    target = os.path.join(folder, UNPACKED)
    if _is_whole(target):
        with contextlib.suppress(FileNotFoundError):
            return _module_in(target, archive)
    if not holds_module(archive):
        raise _no_module(archive, "none")
    make_folder(folder)
    with temporary_beside(target) as fresh:
        unpack(archive, fresh, shown=target)
        _note_files(fresh, target)
        if not _is_whole(target):  # asked again: another process may have been faster
            _discard(target)
        try:
            os.rename(fresh, target)
        except OSError as error:
            if not _is_whole(target):
                raise cannot_write(target, error) from None
    return _module_in(target, archive)


def _note_files(fresh, target):
    """Writes, beside where an unpacked module will lie, what files it has, for `_is_whole`.

    The note comes first: whoever sees the module sees its note, and one archive has one note.
    """
    with temporary_beside(target + NOTE) as temporary:
        try:
            with open(temporary, "x", encoding="utf-8") as file:
                json.dump(_sizes_below(fresh), file)
            os.replace(temporary, target + NOTE)
        except OSError as error:
            raise cannot_write(target, error) from None


def _is_whole(target):
    """Whether no file of an unpacked module was deleted or cut since; True where none is noted."""
    try:
        with open(target + NOTE, encoding="utf-8") as file:
            return json.load(file) == _sizes_below(target)
    except FileNotFoundError:
        return True
    except ValueError:
        return False


def _sizes_below(folder):
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            found[os.path.relpath(path, folder).replace(os.sep, "/")] = os.path.getsize(path)
    return found


def _discard(target):
    with temporary_beside(target) as aside, contextlib.suppress(FileNotFoundError):
        os.rename(target, aside)


def _module_in(directory, place):
    """`directory`, or its only folder, whichever holds the SavedModel."""
    if os.path.isfile(os.path.join(directory, SAVED_MODEL)):
        return directory
    if os.path.isdir(directory):
        for entry in sorted(os.listdir(directory)):
            if os.path.isfile(os.path.join(directory, entry, SAVED_MODEL)):
                return os.path.join(directory, entry)
    raise _no_module(place, f"{directory} without one")


def _no_module(place, found):
    return FileNotFoundError(
        f"{place} must hold a TF-Hub module, so {SAVED_MODEL} at its top or in a folder. "
        f"Received: {found}. Give {FORMS}."
    )


def _hub_cache(handle):
    """Yields the directories in which tensorflow_hub may hold a module."""
    chosen = os.environ.get("TFHUB_CACHE_DIR")
    default = os.path.join(tempfile.gettempdir(), "tfhub_modules")
    for folder in filter(None, (chosen, default if _is_own(default) else None)):
        for address in handle.addresses:
            yield os.path.join(folder, hashlib.sha1(address.encode()).hexdigest())


def _is_own(folder):
    """Whether a folder, which lies where anybody can make one, was made by this user."""
    try:
        return not hasattr(os, "getuid") or os.stat(folder).st_uid == os.getuid()
    except OSError:
        return False
