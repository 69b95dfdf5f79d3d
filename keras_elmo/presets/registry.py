"""The table of published models: `registry.json` as frozen records, and how a name is looked up."""

import dataclasses
import difflib
import functools
import json
import re
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # Python 3.14 has it elsewhere
    from importlib.abc import Traversable

KINDS = ("bilm", "tf_hub")
ROLES = ("options", "weights", "archive")
COMMAND = "`keras_elmo presets` lists the names"
MANY_LANGS = (
    "ELMoForManyLangs models are not readable here: they are of another layout, pickled PyTorch "
    "files with another token encoder. In the layout that is are NLPL's nlpl-210, nlpl-211, "
    "nlpl-217 and nlpl-218 and the seven languages of CLARIN 11356/1277; " + COMMAND + "."
)
_MANY_LANGS_IDS = range(136, 180)


@dataclasses.dataclass(frozen=True)
class RemoteFile:
    """A file of a published model."""

    role: str  # one of `ROLES`
    name: str  # in the cache and in a mirror
    url: str
    mirrors: tuple[str, ...] = ()  # further addresses of the same file
    sha256: str | None = None  # None where nobody has published one


@dataclasses.dataclass(frozen=True)
class PublishedModel:
    """What is known of a published model; None where it is not."""

    name: str  # by which it is loaded
    kind: str  # "bilm", options and weights in the layout of bilm-tf, or "tf_hub", a module
    language: str  # in English
    corpus: str  # the text that it was trained on
    lstm_dim: int | None  # size of an LSTM's cell
    projection_dim: int | None  # size of a direction's output
    n_highway: int | None
    parameters: int | None  # about how many numbers it has
    files: tuple[RemoteFile, ...]  # options and weights, or one archive, or none
    handles: tuple[str, ...]  # of a TF-Hub module: its tfhub.dev address, its Kaggle handle
    licence: str  # of the weights, "as stated: ..." or "not stated"
    citation: str  # whom to cite
    page: str  # where it is described
    verified: bool  # whether the addresses, or their pattern, were seen on a public page
    shipped: bool  # whether the package contains it
    note: str  # what else its user should know, or ""


def published_models() -> tuple[PublishedModel, ...]:
    """All models of the registry, in the order of the table."""
    return _table()


@functools.cache
def _table():
    table = resources.files("keras_elmo.presets").joinpath("registry.json").read_text("utf-8")
    return tuple(_model(entry) for entry in json.loads(table))


def _model(entry):
    files = tuple(
        RemoteFile(**{**file, "mirrors": tuple(file["mirrors"])}) for file in entry["files"]
    )
    return PublishedModel(**{**entry, "files": files, "handles": tuple(entry["handles"])})


PRESETS = tuple(model.name for model in _table() if model.shipped)


def preset_directory(name: str) -> "Traversable":
    """The directory of a preset that the package ships."""
    return resources.files("keras_elmo.presets").joinpath(name)


def find_model(name: str) -> PublishedModel | None:
    """The model of a name, or None where the registry has none."""
    return next((model for model in published_models() if model.name == name), None)


def get_model(name: str) -> PublishedModel:
    """The model of a name; a ValueError lists names like it where there is none."""
    model = find_model(name)
    if model is None:
        raise ValueError(f"A model must have a name of the registry. Received: {unknown(name)}")
    return model


def unknown(name: str) -> str:
    """What to tell of a name that the registry lacks: the name, those like it, where all are."""
    return f"{name!r}. {advice(name)}"


def advice(name: str) -> str:
    """`unknown` without the name itself."""
    number = re.fullmatch(r"nlpl-(\d+)", str(name))
    if number and int(number[1]) in _MANY_LANGS_IDS:
        return MANY_LANGS
    names = [model.name for model in published_models()]
    near = difflib.get_close_matches(str(name), names, n=3, cutoff=0.6)
    guess = f"Did you mean {' or '.join(map(repr, near))}? " if near else ""
    return f"{guess}{COMMAND}."


def check_files(model: PublishedModel) -> None:
    """Raises a ValueError that tells what to do by hand for a model without addresses."""
    if model.files:
        return
    if model.shipped:
        raise ValueError(f"{model.name} is in this package: load it by its name, without download.")
    if model.note:
        reason = f"its files are not loaded by name ({model.note})"
    else:
        reason = "the address of its files is not verified"
    raise ValueError(
        f"{model.name}: {reason}. Look for them at {model.page}, and load the archive, the "
        "directory that they lie in, or in Python the pair (options, weights)."
    )
