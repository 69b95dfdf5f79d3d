"""Downloads of published files into the cache: whole or not at all, and the same every time."""

import contextlib
import hashlib
import json
import os
import shutil
import sys
import urllib.request
from urllib.parse import urlsplit

from tqdm import tqdm

from keras_elmo.presets.archives import RefusedError, open_archive
from keras_elmo.presets.cache import (
    VARIABLE,
    cannot_write,
    make_folder,
    model_folder,
    temporary_beside,
)
from keras_elmo.presets.registry import check_files, get_model

CONNECT_SECONDS = 10
READ_SECONDS = 30
CHUNK = 1 << 18
LARGEST_OPTIONS = 1 << 20
RECORD = ".sha256"


class _UnreachableError(Exception):
    """An address did not give the file; the message tells why."""


class _Bar(tqdm):
    """A bar that pooch takes before its total is known; pooch sets `total` to Content-Length."""

    def __bool__(self):
        return True


class _OtherSumError(Exception):
    """An address gave a file of another sha256; the arguments are that expected and that found."""


def fetch(name, mirror=None, progress=True, check=False):
    """Give the local files of a published model; those that are not in the cache are downloaded.

    Args:
        name: str, of a model of the registry that has files to download.
        mirror: http, https or file address, or a local directory, that holds the files under
            their own names and is tried first; None: only the addresses of the registry.
        progress: bool, whether to show a bar on stderr where that is a terminal or a notebook.
        check: bool, whether a file that is in the cache is compared with its known sum, and
            downloaded again where it differs.

    Returns:
        dict of role, `"options"`, `"weights"` or `"archive"`, to path.

    Raises:
        ValueError: the registry has no such model, or no address of it; or the file differs from
            the published one, or from the one that was downloaded first.
        ConnectionError: no address gave a file; each is named with the reason.
        OSError: the cache cannot be written.
    """
    model = get_model(name)
    check_files(model)
    folder = model_folder(name)
    try:
        return {
            file.role: fetch_file(file, folder, mirror, progress, check) for file in model.files
        }
    except ConnectionError as error:
        raise ConnectionError(f"{error} {_all_files(model, folder)}") from None


def cached_files(model):
    """The paths of a PublishedModel's files, as `fetch` gives them; None where one is missing."""
    folder = model_folder(model.name)
    paths = {file.role: os.path.join(folder, file.name) for file in model.files}
    return paths if paths and all(map(os.path.isfile, paths.values())) else None


def _all_files(model, folder):
    missing = [file for file in model.files if not os.path.isfile(os.path.join(folder, file.name))]
    return f"{model.name} lacks in {folder}: {', '.join(file.name for file in missing)}."


def fetch_file(file, folder, mirror=None, progress=True, check=False):
    """Give the local path of a RemoteFile in `folder`; arguments and errors as for `fetch`."""
    urls = (file.url, *file.mirrors)
    if mirror is not None:
        urls = (_in_mirror(os.fspath(mirror), file.name), *urls)
    path = os.path.join(folder, file.name)
    return fetch_url(urls, path, file.role, file.sha256, progress, check)


def fetch_url(urls, path, role, sha256=None, progress=True, check=False):
    """Give `path`, after downloading it where it is not there.

    The sum of the first download is kept in `path` + `.sha256`, and a later one must equal it.

    Args:
        urls: tuple of addresses (http, https, file) or local paths of one file; the first that
            gives it is taken.
        path: where it is to lie.
        role: what it must be: `"options"`, `"weights"` or `"archive"`.
        sha256: hex digest that it must have, or None.
        progress: as for `fetch`.
        check: as for `fetch`.

    Returns:
        `path`.

    Raises:
        as `fetch`.
    """
    if os.path.isfile(path) and not (check and _has_another_sum(path, sha256)):
        return path
    make_folder(os.path.dirname(path))
    reasons = []
    for url in urls:
        try:
            _fetch_twice(url, path, role, sha256, progress)
            return path
        except _UnreachableError as error:
            reasons.append(f"{url} ({error})")
    raise ConnectionError(_by_hand(path, role, reasons))


def _has_another_sum(path, sha256):
    known = sha256 or recorded_sum(path)
    return known is not None and sha256_of(path) != known


def _by_hand(path, role, reasons):
    folder, name = os.path.split(path)
    pair = "give the directory of both files, or in Python the pair (options, weights),"
    local = "give its own path" if role == "archive" else pair
    return (
        f"{name} is not in the cache and could not be fetched from {', '.join(reasons)}. Download "
        f"it with a browser and put it there as {path}; or into any DIR, and give "
        f"`--mirror DIR` to `keras_elmo download`; or {local} instead of the name. "
        f"Set {VARIABLE} to use another cache than {os.path.dirname(folder)}."
    )


def _in_mirror(mirror, name):
    if urlsplit(mirror).scheme in ("http", "https", "file"):
        return f"{mirror.rstrip('/')}/{name}"
    return os.path.join(os.path.expanduser(mirror), name)


def _fetch_twice(url, path, role, sha256, progress):
    """Fetches `url` to `path`; once more where the sum is another than it must be."""
    for retry in (False, True):
        try:
            return _fetch_once(url, path, role, sha256, progress)
        except _OtherSumError as error:
            expected, found = error.args
            if retry:
                raise ValueError(
                    f"{url} must give a file with the sha256 {expected}. Received twice: {found}. "
                    "Nothing was kept. Give another `--mirror`; or, if you know that another file "
                    f"was published since the first download, delete {path}{RECORD}."
                ) from None


def _fetch_once(url, path, role, sha256, progress):
    with temporary_beside(path) as temporary:
        try:
            _transfer(url, temporary, os.path.basename(path), progress)
            found = sha256_of(temporary)
            expected = sha256 or recorded_sum(path)
            if expected not in (None, found):
                raise _OtherSumError(expected, found)
            _check_role(temporary, role)
            _record(path, found)
            os.replace(temporary, path)
        except OSError as error:
            raise cannot_write(path, error) from None


def _transfer(url, path, name, progress):
    scheme = urlsplit(url).scheme
    if scheme in ("http", "https"):
        _download(url, path, name, progress)
    else:
        _copy(urllib.request.url2pathname(urlsplit(url).path) if scheme == "file" else url, path)


def _copy(source, path):
    try:
        file = open(source, "rb")
    except OSError as error:
        raise _UnreachableError(error.strerror or error) from None
    with file, open(path, "xb") as target:
        shutil.copyfileobj(file, target, CHUNK)


def _download(url, path, name, progress):
    import pooch
    import requests

    bar = _Bar(desc=name, unit="B", unit_scale=True, disable=not _shows(progress))
    downloader = pooch.HTTPDownloader(
        progressbar=bar,
        chunk_size=CHUNK,
        timeout=(CONNECT_SECONDS, READ_SECONDS),
        headers={"Accept-Encoding": "identity"},
    )
    with contextlib.closing(bar):
        try:
            downloader(url, path, None)
        except requests.RequestException as error:
            raise _UnreachableError(_reason(error)) from None
        size, announced = os.path.getsize(path), bar.total or 0
    if size < announced:
        raise _UnreachableError(f"cut off after {size:,} of {announced:,} bytes")


def _shows(progress):
    terminal = sys.stderr is not None and sys.stderr.isatty()
    return progress and (terminal or "ipykernel" in sys.modules)


def _reason(error):
    """A few words for what requests raised."""
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"HTTP {error.response.status_code} {error.response.reason}".rstrip()
    if isinstance(error, requests.ConnectTimeout):
        return f"no connection within {CONNECT_SECONDS} s"
    if isinstance(error, requests.Timeout) or "timed out" in str(error).lower():
        return f"no data for {READ_SECONDS} s"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the connection broke off"
    if isinstance(error, requests.ConnectionError):
        return "no connection"
    return f"{type(error).__name__}: {error}"


def _check_role(path, role):
    """Raises an _UnreachableError where a file is not readable as what it is."""
    try:
        _CHECKS[role](path)
    except (ValueError, OSError, RuntimeError) as error:
        with open(path, "rb") as file:
            start = file.read(24)
        if isinstance(error, RefusedError):
            raise _UnreachableError(str(error).replace(path, "the archive")) from None
        raise _UnreachableError(f"received no {_NAMES[role]}, but {start!r}...") from None


def _read_options(path):
    if os.path.getsize(path) > LARGEST_OPTIONS:
        raise ValueError("too large")
    with open(path, "rb") as file:
        if not isinstance(json.load(file), dict):
            raise ValueError("no object")


def _read_weights(path):
    import h5py

    h5py.File(path, "r").close()


def _read_archive(path):
    """Reads all members, whose bytes go nowhere."""
    with open_archive(path) as members:
        for _, copy in members:
            copy(len)


_CHECKS = {"options": _read_options, "weights": _read_weights, "archive": _read_archive}
_NAMES = {
    "options": "JSON object of options",
    "weights": "whole HDF5 file",
    "archive": "whole zip or tar archive",
}


def sha256_of(path):
    """The hex digest of a file's sha256."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(CHUNK):
            digest.update(piece)
    return digest.hexdigest()


def recorded_sum(path):
    """The sha256 that the first download to `path` had, or None."""
    try:
        with open(path + RECORD, encoding="ascii", errors="replace") as file:
            return (file.read(1000).split() or [None])[0]
    except FileNotFoundError:
        return None


def _record(path, sha256):
    """Writes the sum of a first download beside `path`, in the form of `sha256sum`."""
    if os.path.exists(path + RECORD):
        return
    with temporary_beside(path + RECORD) as temporary:
        with open(temporary, "x", encoding="ascii", errors="replace") as file:
            file.write(f"{sha256}  {os.path.basename(path)}\n")
        os.replace(temporary, path + RECORD)
