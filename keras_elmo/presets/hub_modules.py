"""TF-Hub modules: which names mean one, and where it lies unpacked on this machine."""

import contextlib
import hashlib
import json
import os
import re
import tempfile
from typing import NamedTuple
from urllib.parse import urlsplit

from keras_elmo.presets.archives import open_archive, unpack
from keras_elmo.presets.cache import (
    cache_directory,
    cannot_write,
    make_folder,
    model_folder,
    temporary_beside,
)
from keras_elmo.presets.download import fetch, fetch_file, sha256_of
from keras_elmo.presets.registry import RemoteFile, find_model, published_models

SAVED_MODEL = "saved_model.pb"
UNPACKED = "module"
NOTE = ".files.json"
TFHUB, KAGGLE = "tfhub.dev", "kaggle.com"
TFHUB_PATH = r"\w[\w.-]*(/\w[\w.-]*)+"
KAGGLE_PATH = re.compile(
    r"models/(\w[\w.-]*)/(\w[\w.-]*)/(?:frameworks/)?(tensorflow\d?)/(?:variations/)?(\w[\w.-]*)"
    r"/(?:versions/)?(\d+)",
    re.IGNORECASE,
)
KAGGLE_API = f"https://www.{KAGGLE}/api/v1/models"
FORMS = (
    "a directory with saved_model.pb, a tar archive of one, an address https://tfhub.dev/..., a "
    "Kaggle handle as google/elmo/TensorFlow1/elmo/3, or the name of a module of `keras_elmo "
    "presets`"
)


class _Handle(NamedTuple):
    """What a name of a module stands for.

    Attributes:
        key: str, one for all names of the same module.
        file: RemoteFile of its archive.
        addresses: tuple of str under which tensorflow_hub may have cached it.
    """

    key: str
    file: RemoteFile
    addresses: tuple


def is_module(place):
    """Whether `place` names a TF-Hub module; no request is made to tell.

    Args:
        place: anything. A module is a directory with `saved_model.pb`; a tar or zip archive with
            it at the top or in one folder; an address at tfhub.dev or kaggle.com; a Kaggle
            handle, `owner/model/framework/variation/version`; the name of a module of the
            registry. What is on disk comes first.

    Returns:
        bool.
    """
    if not isinstance(place, (str, os.PathLike)):
        return False
    place = os.fspath(place)
    if os.path.isdir(place):
        return os.path.isfile(os.path.join(place, SAVED_MODEL))
    if os.path.isfile(place):
        with contextlib.suppress(ValueError):
            return _holds_module(place)
        return False
    return _handle(place) is not None or _host_and_path(place)[0] is not None


def cached_module(name):
    """The directory of a published module that was downloaded before, or None.

    Args:
        name: address, Kaggle handle or name of the registry; `$TFHUB_CACHE_DIR` and the default
            cache of tensorflow_hub are looked into as well.
    """
    handle = _handle(name)
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
        place: what `is_module` knows.
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
    place = os.fspath(place)
    if os.path.isdir(place):
        return _module_in(place, place)
    if os.path.isfile(place):
        return _unpacked(place, os.path.join(cache_directory(), "modules", sha256_of(place)))
    handle = _handle(place)
    if find_model(place) is not None and handle is None:
        raise ValueError(
            f"A TF-Hub module must be given as {FORMS}. Received: {place!r}, which is a biLM "
            "already. Load it by its name; it needs no conversion."
        )
    if handle is None:
        raise FileNotFoundError(
            f"A TF-Hub module must be given as {FORMS}. Received: {place!r}, and nothing is there."
        )
    found = cached_module(place)
    if found is not None:
        return found
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
    if not _holds_module(archive):
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


def _holds_module(path):
    """Whether an archive holds a SavedModel; it is read no further than needed to tell."""
    with open_archive(path) as members:
        for member, _ in members:
            *folders, name = member.name.split("/")
            if name == SAVED_MODEL and len(folders) < 2:
                return True
            if name.endswith((".hdf5", ".h5")):  # of a biLM
                return False
    return False


def _handle(place):
    """The _Handle of an address, a Kaggle handle or a name of the registry; None for others."""
    name = _name_of(place)
    for model in published_models():
        if model.kind == "tf_hub" and (place == model.name or name in map(_name_of, model.handles)):
            known = [address for handle in model.handles for address in _addresses(handle)]
            return _Handle(model.name, model.files[0], (place, *known))
    if name is None:
        return None
    host, path = name
    *_, last, version = ("", *path.split("/"))
    if host == KAGGLE:
        url = f"{KAGGLE_API}/{_api_case(path)}/download"
    else:
        url = f"https://{TFHUB}/{path}?tf-hub-format=compressed"
    file = RemoteFile("archive", f"{last}_{version}.tar.gz", url)
    return _Handle(f"{host}/{path}", file, (place, *_addresses(place)))


def _name_of(place):
    """Pair of host and `owner/model/...`, the same for every form of a module's name there.

    None where `place` is neither an address at one of the hosts nor a Kaggle handle.
    """
    host, path = _host_and_path(place)
    if host == TFHUB and re.fullmatch(TFHUB_PATH, path):
        return host, path
    match = KAGGLE_PATH.fullmatch(path if host == KAGGLE else f"models/{place}")
    if match:
        owner, model, framework, variation, version = match.groups()
        return KAGGLE, f"{owner}/{model}/{framework.lower()}/{variation}/{version}"
    return None


def _host_and_path(place):
    """The parts of an address at one of the two hosts; Nones for all else."""
    try:
        url = urlsplit(place)
    except ValueError:
        return None, None
    host = (url.hostname or "").removeprefix("www.")
    if url.scheme not in ("http", "https") or host not in (TFHUB, KAGGLE):
        return None, None
    return host, url.path.strip("/")


def _api_case(path):
    return re.sub("/tensorflow", "/tensorFlow", path, count=1)


def _addresses(handle):
    """Yields the addresses under which tensorflow_hub may have stored a module."""
    host, path = _name_of(handle)
    if host == TFHUB:
        yield f"https://{TFHUB}/{path}"
        return
    owner, model, framework, variation, version = path.split("/")
    for case in (framework.replace("tensorf", "TensorF"), framework.replace("tensorf", "tensorF")):
        for start in (f"https://www.{KAGGLE}/models", f"https://{KAGGLE}/models"):
            yield f"{start}/{owner}/{model}/{case}/{variation}/{version}"
            yield (
                f"{start}/{owner}/{model}/frameworks/{case}/variations/{variation}"
                f"/versions/{version}"
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
