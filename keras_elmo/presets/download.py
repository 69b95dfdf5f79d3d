"""Downloads of published files into the cache: whole or not at all, and the same every time."""

import contextlib
import json
import os
import shutil
import sys
import urllib.request
from urllib.parse import urlsplit

from tqdm import tqdm

from keras_elmo.basics.files import sha256_of, whole_file
from keras_elmo.presets.archives import RefusedError, members_of
from keras_elmo.presets.cache import VARIABLE, model_folder, writing
from keras_elmo.presets.registry import PublishedModel, RemoteFile, check_files, get_model

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


def fetch(
    name: str,
    mirror: str | os.PathLike | None = None,
    progress: bool = True,
    check: bool = False,
) -> dict[str, str]:
    """Gives the local files of a published model; those that are not in the cache are downloaded.

    Args:
        name: of a model of the registry that has files to download.
        mirror: http, https or file address, or a local directory, that holds the files under
            their own names and is tried first.
        progress: whether to show a bar on stderr where that is a terminal or a notebook.
        check: whether a file that is in the cache is compared with its known sum, and downloaded
            again where it differs.

    Returns:
        dict of role, `"options"`, `"weights"` or `"archive"`, to path.

    Raises:
        ValueError: the registry has no such model, or no address of it; or the file differs from
            the published one, or from the one that was downloaded first.
        ConnectionError: no address gave a file; each is named with the reason.
    """
    model = get_model(name)
    check_files(model)
    paths = _paths(model)
    try:
        for file in model.files:
            fetch_file(file, os.path.dirname(paths[file.role]), mirror, progress, check)
    except ConnectionError as error:
        missing = [path for path in paths.values() if not os.path.isfile(path)]
        names = ", ".join(map(os.path.basename, missing))
        raise ConnectionError(f"{error} {name} lacks in {model_folder(name)}: {names}.") from None
    return paths


def cached_files(model: PublishedModel) -> dict[str, str] | None:
    """The paths of a model's files, as `fetch` gives them; None where one is missing."""
    paths = _paths(model)
    return paths if paths and all(map(os.path.isfile, paths.values())) else None


def _paths(model):
    folder = model_folder(model.name)
    return {file.role: os.path.join(folder, file.name) for file in model.files}


def fetch_file(
    file: RemoteFile,
    folder: str,
    mirror: str | os.PathLike | None = None,
    progress: bool = True,
    check: bool = False,
) -> str:
    """Gives the path of a file in `folder`, after downloading it where it is not there.

    The sum of the first download is kept in the path + `.sha256`, and a later one must equal it.
    Arguments and errors are those of `fetch`.
    """
    path = os.path.join(folder, file.name)
    if os.path.isfile(path) and not (check and _has_another_sum(path, file)):
        return path
    urls, reasons = (file.url, *file.mirrors), []
    if mirror is not None:
        urls = (_in_mirror(os.fspath(mirror), file.name), *urls)
    for url in urls:
        try:
            _fetch(url, path, file, progress)
            return path
        except _UnreachableError as error:
            reasons.append(f"{url} ({error})")
    raise ConnectionError(_by_hand(path, file.role, reasons))


def recorded_sum(path: str) -> str | None:
    """The sha256 that the first download to `path` had, or None."""
    try:
        with open(path + RECORD, encoding="ascii", errors="replace") as file:
            return next(iter(file.read(1000).split()), None)
    except FileNotFoundError:
        return None


def _has_another_sum(path, file):
    known = file.sha256 or recorded_sum(path)
    return known is not None and sha256_of(path) != known


def _in_mirror(mirror, name):
    if urlsplit(mirror).scheme in ("http", "https", "file"):
        return f"{mirror.rstrip('/')}/{name}"
    return os.path.join(os.path.expanduser(mirror), name)


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


def _fetch(url, path, file, progress):
    """Fetches `url` to `path`; once more where the sum is another than it must be."""
    with writing(path), whole_file(path) as scratch:
        for _ in range(2):
            _transfer(url, os.fspath(scratch), file.name, progress)
            found = sha256_of(scratch)
            expected = file.sha256 or recorded_sum(path)
            if expected in (None, found):
                break
        else:
            raise ValueError(
                f"{url} must give a file with the sha256 {expected}. Received twice: {found}. "
                "Nothing was kept. Give another `--mirror`; or, if you know that another file "
                f"was published since the first download, delete {path}{RECORD}."
            )
        _check_role(os.fspath(scratch), file.role)
        if not os.path.exists(path + RECORD):
            with whole_file(path + RECORD) as record:  # in the form of `sha256sum`
                record.write_text(f"{found}  {file.name}\n", "utf-8")


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
    with file, open(path, "wb") as target:
        shutil.copyfileobj(file, target, CHUNK)


def _download(url, path, name, progress):
    """By pooch's downloader: `pooch.retrieve` knows no mirrors and makes files that are private."""
    import pooch
    import requests

    is_seen = (sys.stderr is not None and sys.stderr.isatty()) or "ipykernel" in sys.modules
    bar = _Bar(desc=name, unit="B", unit_scale=True, disable=not (progress and is_seen))
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
    check, name = _ROLES[role]
    try:
        check(path)
    except RefusedError as error:
        raise _UnreachableError(str(error).replace(path, "the archive")) from None
    except (ValueError, OSError, RuntimeError):
        with open(path, "rb") as file:
            raise _UnreachableError(f"received no {name}, but {file.read(24)!r}...") from None


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
    with open(os.devnull, "wb") as nowhere:
        for member in members_of(path):
            member.copy_to(nowhere)


_ROLES = {
    "options": (_read_options, "JSON object of options"),
    "weights": (_read_weights, "whole HDF5 file"),
    "archive": (_read_archive, "whole zip or tar archive"),
}
