"""Where biLMs come from: shipped presets, published names, directories, archives, file pairs."""

import contextlib
import io
import json
import os
from importlib import resources
from typing import NamedTuple

from keras_elmo.presets import hub_modules as modules
from keras_elmo.presets.archives import is_archive, open_archive
from keras_elmo.presets.download import fetch
from keras_elmo.presets.registry import MANY_LANGS, advice, find_model, published_models

PRESETS = tuple(model.name for model in published_models() if model.shipped)
LARGEST_OPTIONS = 1 << 20
LARGEST_WEIGHTS = 4 << 30
KINDS_OF_PLACE = (
    f"the name of a model, as {PRESETS[0]!r}, a directory, a zip or tar archive, or in Python a "
    "pair (options, weights) of paths"
)
_MANY_LANGS_NAMES = {"char.dic", "word.dic", "encoder.pkl", "token_embedder.pkl"}


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
    """Find the options and weights files of a biLM and open them.

    Args:
        place: name of a model, a directory, a zip or tar archive, or a pair (options, weights) of
            paths. A shipped name comes first, then what is on disk, then a published name, whose
            files are downloaded once.

    Yields:
        ModelFiles.

    Raises:
        FileNotFoundError: there is nothing at `place`, or a file is missing there.
        ValueError: a directory or archive holds more than one candidate, or another kind of
            model; a published model has no verified address, or its files are not as they were.
        ConnectionError: the files of a published model cannot be downloaded.
        TypeError: `place` is none of these.
    """
    if isinstance(place, (tuple, list)):
        yield _open_pair(place)
        return
    if not isinstance(place, (str, os.PathLike)):
        raise TypeError(
            f"A biLM must be given as {KINDS_OF_PLACE}. Received: {type(place).__name__}."
        )
    with contextlib.ExitStack() as stack:
        yield _open_place(os.fspath(place), stack)


def preset_directory(name):
    """The directory of a preset that the package ships, as an importlib traversable."""
    return resources.files("keras_elmo.presets").joinpath(name)


def _open_place(place, stack):
    if place in PRESETS:
        return _open_shipped(place, stack)
    if os.path.isdir(place):
        return _open_directory(place)
    if os.path.isfile(place):
        return _open_archive(place)
    if modules.is_module(place):
        raise _is_hub_module(place)
    if find_model(place) is not None:
        return _open_published(place)
    raise FileNotFoundError(
        f"A biLM must be given as {KINDS_OF_PLACE}. Received: {place!r}, and nothing is there. "
        f"{advice(place)}"
    )


def _open_shipped(name, stack):
    directory = preset_directory(name)
    names = sorted(entry.name for entry in directory.iterdir() if entry.is_file())
    options, weights = _pick(names, name)
    # One by one: as_file of a directory needs Python 3.12 where the package lies in a zip file.
    path = os.fspath(stack.enter_context(resources.as_file(directory.joinpath(weights))))
    content = directory.joinpath(options).read_bytes()
    return ModelFiles(content, str(directory.joinpath(options)), path, path)


def _open_published(name):
    paths = fetch(name)
    if "archive" in paths:
        return _open_archive(paths["archive"])
    files = _read_pair(paths["options"], paths["weights"])
    _check_sizes(files, find_model(name))
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
    _check_kind(names, directory)
    options, weights = _pick(names, directory)
    return _read_pair(os.path.join(directory, options), os.path.join(directory, weights))


def _read_pair(options, weights):
    if os.path.getsize(options) > LARGEST_OPTIONS:
        raise ValueError(
            f"{options} must be a JSON file of options. Received {os.path.getsize(options):,} "
            "bytes. Give the model's own options file; in a pair it comes first."
        )
    with open(options, "rb") as file:
        return ModelFiles(file.read(), options, weights, weights)


def _open_archive(place):
    if not is_archive(place):
        raise ValueError(
            f"{place} must be a directory or a zip or tar archive with an options file and a "
            "weights file. Received another kind of file. For single files give their directory, "
            "or in Python the pair (options, weights)."
        )
    names, contents = _read_archive(place)
    _check_kind(names, place)
    options, weights = _pick(names, place)
    return ModelFiles(
        contents[options].getvalue(), f"{place}:{options}", contents[weights], f"{place}:{weights}"
    )


def _read_archive(place):
    """The names in an archive, and a BytesIO of its first options and of its first weights."""
    names, contents = [], {}
    with open_archive(place) as members:
        for member, copy in members:
            if member.name.startswith("__MACOSX/"):
                continue
            names.append(member.name)
            for is_wanted, largest in (
                (_is_options, LARGEST_OPTIONS),
                (_is_weights, LARGEST_WEIGHTS),
            ):
                if is_wanted(member.name) and not any(map(is_wanted, contents)):
                    contents[member.name] = _read_member(member, copy, largest, place)
    return names, contents


def _read_member(member, copy, largest, place):
    if member.size > largest:
        raise ValueError(
            f"{place}: {member.name} must be at most {largest:,} bytes. Received: "
            f"{member.size:,}. Unpack the archive and give the directory."
        )
    content = io.BytesIO()
    copy(content.write)
    content.seek(0)
    return content


def _check_kind(names, place):
    """Raises a ValueError for the layouts of other models, where there is no biLM beside them."""
    if any(map(_is_options, names)) and any(map(_is_weights, names)):
        return
    stems = {os.path.basename(name) for name in names}
    if modules.SAVED_MODEL in stems:
        raise _is_hub_module(place)
    if len(stems & _MANY_LANGS_NAMES) > 1:
        raise ValueError(f"{place}: {MANY_LANGS}")


def _is_hub_module(place):
    return ValueError(
        f"A biLM must have files of options and weights. Received: {place!r}, a TF-Hub module. "
        f"Use it by `ELMoEmbedding({place!r})`, or turn it into a biLM first by "
        f"`keras_elmo convert {place} DIRECTORY`."
    )


def _pick(names, place):
    options = [name for name in names if _is_options(name)]
    weights = [name for name in names if _is_weights(name)]
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


def _is_options(name):
    stem = os.path.basename(name)
    return stem.endswith(".json") and "options" in stem and not stem.startswith(".")


def _is_weights(name):
    stem = os.path.basename(name)
    return stem.endswith((".hdf5", ".h5")) and not stem.startswith((".", "softmax"))
