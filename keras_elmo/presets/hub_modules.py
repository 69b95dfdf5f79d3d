"""TF-Hub modules: where one lies unpacked on this machine, and how it gets there."""

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path

from keras_elmo.basics.files import sha256_of, whole_directory
from keras_elmo.presets.archives import unpack
from keras_elmo.presets.cache import cache_directory, model_folder, writing
from keras_elmo.presets.download import fetch_file
from keras_elmo.presets.handles import handle_of
from keras_elmo.presets.locate import SAVED_MODEL, Kind, holds_module, locate

UNPACKED = "module"
NOTE = ".files.json"
HUB_CACHE = "TFHUB_CACHE_DIR"
FORMS = (
    "a directory with saved_model.pb, a tar archive of one, an address https://tfhub.dev/..., a "
    "Kaggle handle as google/elmo/TensorFlow1/elmo/3, or the name of a module of `keras_elmo "
    "presets`"
)


def module_directory(
    place: str | os.PathLike, mirror: str | os.PathLike | None = None, progress: bool = True
) -> str:
    """Finds a TF-Hub module on this machine, or downloads it.

    An archive is unpacked once into the cache. A name is looked up there, then in the cache of
    tensorflow_hub; what is in neither is downloaded, by tensorflow_hub where that is installed.

    Args:
        place: what `locate` tells to be a module.
        mirror: address or directory that holds the archive under its own name, as
            `elmo_3.tar.gz`, and is tried first; tensorflow_hub is not asked then.
        progress: whether a download shows a bar where stderr is a terminal.

    Raises:
        FileNotFoundError: nothing is at `place`, or no module is in it.
        ValueError: the archive is damaged or holds what is refused.
        ConnectionError: it is not here and cannot be downloaded.
    """
    found = locate(place)
    if found.kind in (Kind.DIRECTORY, Kind.MODULE_DIRECTORY):
        return _module_in(found.place) or _raise_no_module(place, f"{place} without one")
    if found.kind in (Kind.ARCHIVE, Kind.MODULE_ARCHIVE, Kind.OTHER_FILE):
        return _unpacked(place, os.path.join(cache_directory(), "modules", sha256_of(place)))
    if found.kind in (Kind.SHIPPED, Kind.PUBLISHED):
        raise ValueError(
            f"A TF-Hub module must be given as {FORMS}. Received: {place!r}, which is a biLM "
            "already. Load it by its name; it needs no conversion."
        )
    if found.handle is None:
        raise FileNotFoundError(
            f"A TF-Hub module must be given as {FORMS}. Received: {place!r}, and nothing is there."
        )
    return cached_module(found.place) or _downloaded(found.handle, mirror, progress)


def cached_module(name: str) -> str | None:
    """The directory of a published module that was downloaded before, or None.

    `$TFHUB_CACHE_DIR` and the default cache of tensorflow_hub are looked into as well.
    """
    handle = handle_of(name)
    if handle is None:
        return None
    own = _unpacked_before(os.path.join(model_folder(handle.key), UNPACKED))
    return own or next(filter(None, map(_module_in, _in_hub_caches(handle))), None)


def _downloaded(handle, mirror, progress):
    folder = model_folder(handle.key)
    if mirror is None and not os.path.isfile(os.path.join(folder, handle.file.name)):
        resolved = _resolved(handle, os.path.join(folder, UNPACKED))
        if resolved is not None:
            return resolved
    return _unpacked(fetch_file(handle.file, folder, mirror, progress), folder)


def _resolved(handle, target):
    """The module as tensorflow_hub gives it; None where that is not installed, or fails.

    Without `$TFHUB_CACHE_DIR` it keeps modules among the temporary files, which the system may
    empty at any time: from there one is copied to `target`.
    """
    is_kept, default = os.environ.get(HUB_CACHE), _default_hub_cache()
    if not is_kept and os.path.exists(default) and not _is_own(default):
        return None
    try:
        import tensorflow_hub

        resolved = tensorflow_hub.resolve(handle.addresses[0])
    except Exception:  # Whatever it is: the download that follows tells what is wrong.
        return None
    if not is_kept and _module_in(resolved):
        copied = {"dirs_exist_ok": True, "copy_function": shutil.copyfile}
        _fill(target, lambda fresh: shutil.copytree(resolved, fresh, **copied))
        resolved = target
    return _module_in(resolved)


def _unpacked(archive, folder):
    """The module of an archive, which is unpacked to `folder` where that was not done before."""
    target = os.path.join(folder, UNPACKED)
    if _unpacked_before(target) is None:
        if not holds_module(archive):
            _raise_no_module(archive, "none")
        _fill(target, lambda fresh: unpack(archive, fresh))
    return _module_in(target)


def _fill(target, write):
    """Makes a directory of the files that `write` puts there, and a note of what they are."""
    with writing(target), whole_directory(target) as fresh:
        write(fresh)
        (fresh / NOTE).write_text(json.dumps(_sizes_below(fresh)), "utf-8")


def _unpacked_before(target):
    """The module of a directory in the cache; None where a file was deleted or cut since."""
    with contextlib.suppress(FileNotFoundError):  # of a folder that was filled by hand
        try:
            noted = json.loads(Path(target, NOTE).read_text("utf-8"))
        except ValueError:
            return None
        if noted != _sizes_below(target):
            return None
    return _module_in(target)


def _sizes_below(folder):
    files = [path for path in Path(folder).rglob("*") if path.is_file() and path.name != NOTE]
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in files}


def _module_in(directory):
    """`directory`, or a folder in it, whichever holds a SavedModel; or None."""
    if not os.path.isdir(directory):
        return None
    for place in (directory, *(os.path.join(directory, n) for n in sorted(os.listdir(directory)))):
        if os.path.isfile(os.path.join(place, SAVED_MODEL)):
            return os.fspath(place)
    return None


def _raise_no_module(place, found):
    raise FileNotFoundError(
        f"{place} must hold a TF-Hub module, so {SAVED_MODEL} at its top or in a folder. "
        f"Received: {found}. Give {FORMS}."
    )


def _in_hub_caches(handle):
    """Yields the directories in which tensorflow_hub may hold a module."""
    chosen, default = os.environ.get(HUB_CACHE), _default_hub_cache()
    for folder in filter(None, (chosen, default if _is_own(default) else None)):
        for address in handle.addresses:
            yield os.path.join(folder, hashlib.sha1(address.encode()).hexdigest())


def _default_hub_cache():
    return os.path.join(tempfile.gettempdir(), "tfhub_modules")


def _is_own(folder):
    """Whether a folder, which lies where anybody can make one, was made by this user."""
    try:
        return not hasattr(os, "getuid") or os.stat(folder).st_uid == os.getuid()
    except OSError:
        return False
