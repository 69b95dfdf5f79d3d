"""Where biLMs come from: shipped presets, published names, directories, archives, file pairs."""

import contextlib
import io
import json
import os
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from keras_elmo.presets.archives import members_of
from keras_elmo.presets.download import fetch
from keras_elmo.presets.locate import Kind, is_options, is_weights, locate
from keras_elmo.presets.registry import MANY_LANGS, PRESETS, advice

LARGEST_OPTIONS = 1 << 20
LARGEST_WEIGHTS = 4 << 30
KINDS_OF_PLACE = (
    f"the name of a model, as {PRESETS[0]!r}, a directory, a zip or tar archive, or in Python a "
    "pair (options, weights) of paths"
)
_MANY_LANGS_NAMES = {"char.dic", "word.dic", "encoder.pkl", "token_embedder.pkl"}


class ModelFiles(NamedTuple):
    """The content of a model's options, its open weights, and the names of both for messages."""

    options: bytes
    options_name: str
    weights: str | io.BytesIO
    weights_name: str


@contextlib.contextmanager
def open_model(place: str | os.PathLike | tuple | list) -> Iterator[ModelFiles]:
    """Opens the options and weights files of a biLM, after a download where it is a name.

    Raises:
        FileNotFoundError: there is nothing at `place`, or a file is missing there.
        ValueError: a directory or archive holds more than one candidate, or another kind of
            model; a published model has no verified address, or its files are not as they were.
        ConnectionError: the files of a published model cannot be downloaded.
        TypeError: `place` is none of these.
    """
    found = locate(place)
    if found.kind in (Kind.SHIPPED, Kind.DIRECTORY):
        with _open_directory(found.directory) as files:
            yield files
    elif found.kind is Kind.PUBLISHED:
        yield _open_published(found.model)
    elif found.kind is Kind.ARCHIVE:
        yield _open_archive(found.place)
    elif found.kind is Kind.PAIR:
        yield _open_pair(found.place)
    else:
        raise no_bilm(found)


def no_bilm(found):
    """The error for what is no biLM."""
    if found.is_module:
        return ValueError(
            f"A biLM must have files of options and weights. Received: {found.place!r}, a TF-Hub "
            f"module. Use it by `ELMoEmbedding({found.place!r})`, or turn it into a biLM first by "
            f"`keras_elmo convert {found.place} DIRECTORY`."
        )
    if found.kind is Kind.OTHER_FILE:
        return ValueError(
            f"{found.place} must be a directory or a zip or tar archive with an options file and a "
            "weights file. Received another kind of file. For single files give their directory, "
            "or in Python the pair (options, weights)."
        )
    if found.kind is Kind.NO_PLACE:
        received = type(found.place).__name__
        return TypeError(f"A biLM must be given as {KINDS_OF_PLACE}. Received: {received}.")
    return FileNotFoundError(
        f"A biLM must be given as {KINDS_OF_PLACE}. Received: {found.place!r}, and nothing is "
        f"there. {advice(found.place)}"
    )


@contextlib.contextmanager
def _open_directory(directory):
    names = sorted(entry.name for entry in directory.iterdir() if entry.is_file())
    options, weights = (directory.joinpath(name) for name in _pick(names, directory))
    # One by one: as_file of a directory needs Python 3.12 where the package lies in a zip file.
    with resources.as_file(weights) as file:
        yield _read_pair(options, file)


def _open_published(model):
    paths = fetch(model.name)
    if "archive" in paths:
        return _open_archive(paths["archive"])
    files = _read_pair(Path(paths["options"]), paths["weights"])
    _check_sizes(files, model)
    return files


def _check_sizes(files, model):
    """Raises where options tell other sizes than a published model is known to have."""
    try:
        lstm = json.loads(files.options)["lstm"]
        found = (lstm["dim"], lstm["projection_dim"])
    except (ValueError, LookupError, TypeError):
        return  # BiLMConfig tells what is wrong.
    known = (model.lstm_dim, model.projection_dim)
    if None not in known and found != known:
        raise ValueError(
            f"{files.options_name} must be of the model '{model.name}', whose LSTMs have size "
            f"{known[0]} and projection {known[1]}. Received: {found[0]} and {found[1]}. Delete "
            "the file and what lies beside it, and give a `--mirror` that has the model's own."
        )


def _open_pair(place):
    if len(place) != 2:
        raise ValueError(
            f"A pair of files must be (options, weights). Received {len(place)} entries: {place!r}."
        )
    for path in place:
        if not os.path.isfile(path):
            raise FileNotFoundError(
                f"A pair must name an options file and a weights file. Received {path!r}, "
                "and no file is there."
            )
    options, weights = place
    return _read_pair(Path(options), weights)


def _read_pair(options, weights):
    with options.open("rb") as file:
        content = file.read(LARGEST_OPTIONS + 1)
    if len(content) > LARGEST_OPTIONS:
        raise ValueError(
            f"{options} must be a JSON file of options. Received more than {LARGEST_OPTIONS:,} "
            "bytes. Give the model's own options file; in a pair it comes first."
        )
    return ModelFiles(content, str(options), os.fspath(weights), str(weights))


def _open_archive(place):
    names, contents = _read_archive(place)
    options, weights = _pick(names, place)
    return ModelFiles(
        contents[options].getvalue(), f"{place}:{options}", contents[weights], f"{place}:{weights}"
    )


def _read_archive(place):
    """The names in an archive, and a BytesIO of its first options and of its first weights."""
    names, contents = [], {}
    wanted = ((is_options, LARGEST_OPTIONS), (is_weights, LARGEST_WEIGHTS))
    for member in members_of(place):
        if member.name.startswith("__MACOSX/"):
            continue
        names.append(member.name)
        for is_wanted, largest in wanted:
            if is_wanted(member.name) and not any(map(is_wanted, contents)):
                contents[member.name] = _read_member(member, largest, place)
    return names, contents


def _read_member(member, largest, place):
    if member.size > largest:
        raise ValueError(
            f"{place}: {member.name} must be at most {largest:,} bytes. Received: "
            f"{member.size:,}. Unpack the archive and give the directory."
        )
    content = io.BytesIO()
    member.copy_to(content)
    content.seek(0)
    return content


def _pick(names, place):
    """The names of the one options file and the one weights file among `names`."""
    options, weights = list(filter(is_options, names)), list(filter(is_weights, names))
    if not (options and weights) and len({*map(os.path.basename, names)} & _MANY_LANGS_NAMES) > 1:
        raise ValueError(f"{place}: {MANY_LANGS}")
    shown = [name for name in names if not os.path.basename(name).startswith(".")][:12]
    for kind, found in (("options (*options*.json)", options), ("weights (*.hdf5)", weights)):
        if not found:
            raise FileNotFoundError(
                f"{place} must hold one file of {kind}. Received: {shown}. Give a directory or an "
                "archive that has both, or in Python the pair (options, weights)."
            )
        if len(found) > 1:
            raise ValueError(
                f"{place} must hold one file of {kind}. Received: {found}. Leave one of them "
                "there, or in Python give the pair (options, weights)."
            )
    return options[0], weights[0]
