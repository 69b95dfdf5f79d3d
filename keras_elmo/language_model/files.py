"""A trained language model as a preset directory, softmax included."""

import contextlib
import os
from importlib import resources
from typing import Any

import h5py
import numpy as np

from keras_elmo.basics.files import sha256_of, whole_files
from keras_elmo.bilm.bilm import BiLM
from keras_elmo.bilm.hdf5 import write_weights
from keras_elmo.language_model.bidirectional import BidirectionalLanguageModel
from keras_elmo.language_model.names import SOFTMAX, VOCABULARY
from keras_elmo.language_model.softmax.make_softmax import SOFTMAXES, make_softmax
from keras_elmo.presets.locate import Kind, locate
from keras_elmo.presets.registry import PRESETS
from keras_elmo.text.vocabulary import Vocabulary

WEIGHTS_SHA256 = "weights_sha256"  # attribute of the softmax: of the file that belongs to it
WHAT_TO_GIVE = (
    f"Give {' or '.join(map(repr, PRESETS))}, or a directory that `keras_elmo-train bilm` wrote."
)


def save_language_model(
    model: BidirectionalLanguageModel, directory: str | os.PathLike, dtype: str = "float32"
) -> None:
    """Write options, weights, vocabulary and softmax; the first two are a preset by themselves.

    Args:
        model: what to write.
        directory: where to; made where it does not exist. Other files in it stay.
        dtype: `"float32"`, or `"float16"` for half the size.
    """
    with whole_files(directory) as scratch:
        model.bilm.save(scratch, dtype)
        model.vocabulary.write(scratch / VOCABULARY)
        write_weights(scratch / SOFTMAX, model.softmax.named_variables(), dtype)
        with h5py.File(scratch / SOFTMAX, "r+") as file:
            file.attrs["softmax"] = model.softmax.kind
            file.attrs[WEIGHTS_SHA256] = sha256_of(scratch / "weights.hdf5")


def load_language_model(
    place: str | os.PathLike, frozen: bool = True, dtype: Any = None
) -> BidirectionalLanguageModel:
    """Read what `save_language_model` wrote.

    Args:
        place: name of a preset, or the directory.
        frozen: whether the biLM's weights are created non-trainable.
        dtype: dtype policy of the layers, or None for Keras' default.

    Raises:
        FileNotFoundError: there is no directory, or a file is missing, as the softmax is beside
            the published biLMs.
        TypeError: `place` is neither a name nor a path.
        ValueError: a file is damaged, or the softmax does not fit the vocabulary or the biLM, or
            was written with other weights of it.
    """
    with _directory_of(place) as directory:
        _check_files(directory)
        bilm = BiLM.load(directory, frozen=frozen, dtype=dtype)
        vocabulary = Vocabulary.read(os.path.join(directory, VOCABULARY))
        softmax = _read_softmax(
            os.path.join(directory, SOFTMAX), len(vocabulary), bilm.config.projection_dim, dtype
        )
    return BidirectionalLanguageModel(bilm, softmax, vocabulary)


@contextlib.contextmanager
def _directory_of(place):
    found = locate(place)
    if found.directory is None:
        raise _no_directory(found)
    with resources.as_file(found.directory) as directory:
        yield os.fspath(directory)


def _no_directory(found):
    received = f"{found.place!r}, a file"
    if found.model is not None:
        received = (
            f"{found.place!r}, whose published files have no softmax: they give vectors, but "
            "predict no words"
        )
    elif found.kind is Kind.NOTHING:
        received = f"{found.place!r}, and nothing is there"
    elif found.kind in (Kind.NO_PLACE, Kind.PAIR):
        received = type(found.place).__name__
    error = TypeError if found.kind in (Kind.NO_PLACE, Kind.PAIR) else FileNotFoundError
    return error(
        "A language model must be given as the name of a preset or a directory. Received: "
        f"{received}. {WHAT_TO_GIVE}"
    )


def _check_files(directory):
    missing = [
        name for name in (SOFTMAX, VOCABULARY) if not os.path.isfile(os.path.join(directory, name))
    ]
    if missing:
        raise FileNotFoundError(
            f"{directory} must hold a biLM with its softmax and its vocabulary. Not there: "
            f"{', '.join(missing)}. A biLM without them, as most are published, gives vectors "
            f"(`ELMoEmbedding`, `keras_elmo embed`) but predicts no words. {WHAT_TO_GIVE}"
        )


def _read_softmax(path, vocabulary_size, hidden_dim, dtype):
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise ValueError(
            f"{path} must be a complete HDF5 file of a softmax. Received a file that h5py cannot "
            f"read ({str(error).splitlines()[0]}). Copy it again."
        ) from None
    with file:
        kind = file.attrs.get("softmax")
        if kind not in SOFTMAXES:
            raise ValueError(
                f"{path}: the attribute 'softmax' must be one of {SOFTMAXES}. Received: {kind!r}. "
                "Give the files that `keras_elmo-train bilm` wrote."
            )
        _check_weights(file.attrs.get(WEIGHTS_SHA256), path)
        softmax = make_softmax(kind, vocabulary_size, hidden_dim, dtype=dtype)
        arrays = _arrays(file, softmax.named_variables(), path, vocabulary_size)
    for key, variable in softmax.named_variables().items():
        variable.assign(arrays[key])
    return softmax


def _check_weights(expected, path):
    """A process that is killed between two files leaves those of two moments."""
    weights = os.path.join(os.path.dirname(path), "weights.hdf5")
    if expected is not None and sha256_of(weights) != expected:
        raise ValueError(
            f"{path} must stand beside the weights.hdf5 that it was written with. Received: "
            "another one, as a training run leaves that is killed while it writes. Go on with the "
            "run (`--resume`), which writes both anew, or copy both files again."
        )


def _arrays(file, variables, path, vocabulary_size):
    """Every dataset of a softmax, checked before any is used."""
    arrays = {}
    for key, variable in variables.items():
        shape = tuple(variable.shape)
        is_dataset = isinstance(file.get(key), h5py.Dataset)
        found = file[key].shape if is_dataset else "nothing"
        if found != shape:
            raise ValueError(
                f"{path}: dataset '{key}' must have shape {shape} for the {vocabulary_size} words "
                f"of {VOCABULARY}. Received: {found}. Give the files of one training run."
            )
        arrays[key] = file[key][()].astype(np.float32)
        if not np.isfinite(arrays[key]).all():
            raise ValueError(
                f"{path}: dataset '{key}' must be finite. Received NaN or infinity. "
                "Copy or train the softmax again."
            )
    return arrays
