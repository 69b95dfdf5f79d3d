"""Names of TF-Hub modules: addresses at two hosts, Kaggle handles, names of the registry."""

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from keras_elmo.presets.registry import RemoteFile, published_models

TFHUB, KAGGLE = "tfhub.dev", "kaggle.com"
TFHUB_PATH = r"\w[\w.-]*(/\w[\w.-]*)+"
KAGGLE_PATH = re.compile(
    r"models/(\w[\w.-]*)/(\w[\w.-]*)/(?:frameworks/)?(tensorflow\d?)/(?:variations/)?(\w[\w.-]*)"
    r"/(?:versions/)?(\d+)",
    re.IGNORECASE,
)
KAGGLE_API = f"https://www.{KAGGLE}/api/v1/models"


class Handle(NamedTuple):
    """What a name of a module stands for.

    Attributes:
        key: one for all names of the same module.
        file: its archive.
        addresses: under which tensorflow_hub may have cached it.
    """

    key: str
    file: RemoteFile
    addresses: tuple[str, ...]


def is_at_a_hub(place: str) -> bool:
    """Whether a string is an address at one of the two hosts, of a module or not."""
    return _host_and_path(place)[0] is not None


def handle_of(place: str) -> Handle | None:
    """The Handle of an address, a Kaggle handle or a name of the registry; None for others."""
    name = _name_of(place)
    for model in published_models():
        if model.kind == "tf_hub" and (place == model.name or name in map(_name_of, model.handles)):
            known = [address for handle in model.handles for address in _addresses(handle)]
            return Handle(model.name, model.files[0], (place, *known))
    if name is None:
        return None
    host, path = name
    *_, last, version = ("", *path.split("/"))
    if host == KAGGLE:
        url = f"{KAGGLE_API}/{_api_case(path)}/download"
    else:
        url = f"https://{TFHUB}/{path}?tf-hub-format=compressed"
    file = RemoteFile("archive", f"{last}_{version}.tar.gz", url)
    return Handle(f"{host}/{path}", file, (place, *_addresses(place)))


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
