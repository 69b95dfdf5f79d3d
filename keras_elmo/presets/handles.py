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


class Handle(NamedTuple):
    """What a name of a module stands for."""

    key: str  # one for all names of the same module
    file: RemoteFile  # its archive
    addresses: tuple[str, ...]  # by which tensorflow_hub knows it, the one to ask first


def handle_of(place: str) -> Handle | None:
    """The Handle of an address, a Kaggle handle or a name of the registry; None for others."""
    name = _name_of(place)
    for model in published_models():
        names = [_name_of(handle) for handle in model.handles]
        if model.kind == "tf_hub" and (place == model.name or name in names):
            return Handle(model.name, model.files[0], (*map(_address, names), place))
    if name is None:
        return None
    return Handle("/".join(name), _archive(*name), (_address(name), place))


def is_at_a_hub(place: str) -> bool:
    """Whether a string is an address at one of the two hosts, of a module or not."""
    return _host_and_path(place)[0] is not None


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


def _address(name):
    """The address of a module, as the two hosts write it."""
    host, path = name
    if host == TFHUB:
        return f"https://{TFHUB}/{path}"
    return f"https://www.{KAGGLE}/models/{path.replace('/tensorflow', '/TensorFlow', 1)}"


def _archive(host, path):
    """The RemoteFile of a module that the registry lacks."""
    last, version = path.split("/")[-2:]
    url = f"https://{TFHUB}/{path}?tf-hub-format=compressed"
    if host == KAGGLE:
        path = path.replace("/tensorflow", "/tensorFlow", 1)
        url = f"https://www.{KAGGLE}/api/v1/models/{path}/download"
    return RemoteFile("archive", f"{last}_{version}.tar.gz", url)
