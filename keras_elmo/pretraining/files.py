"""A trained language model as a preset directory, softmax included."""

import os
import tempfile

import h5py
import numpy as np

from keras_elmo.bilm import BiLM
from keras_elmo.bilm.hdf5 import write_weights
from keras_elmo.pretraining.language_model import BidirectionalLanguageModel
from keras_elmo.pretraining.softmax import make_softmax
from keras_elmo.text.vocabulary import Vocabulary

VOCABULARY = "vocab.txt"
SOFTMAX = "softmax.hdf5"
MODEL_FILES = ("options.json", "weights.hdf5", VOCABULARY, SOFTMAX)


def save_language_model(model, directory, dtype="float32"):
    """Write options, weights, vocabulary and softmax; the first two are a preset by themselves.

    Args:
        model: BidirectionalLanguageModel.
        directory: where to write; made where it does not exist.
        dtype: `"float32"`, or `"float16"` for half the size.
    """
    model.bilm.save(directory, dtype)
    model.vocabulary.write(os.path.join(directory, VOCABULARY))
    with tempfile.TemporaryDirectory(dir=directory, prefix=".writing-") as scratch:
        path = os.path.join(scratch, SOFTMAX)
        write_weights(path, model.softmax.named_variables(), dtype)
        with h5py.File(path, "r+") as file:
            file.attrs["softmax"] = model.softmax.kind
        os.replace(path, os.path.join(directory, SOFTMAX))


def load_language_model(directory, frozen=True, dtype=None):
    """Read what `save_language_model` wrote.

    Args:
        directory: the directory.
        frozen: bool, whether the biLM's weights are created non-trainable.
        dtype: dtype policy of the layers, or None for Keras' default.

    Returns:
        BidirectionalLanguageModel.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: the softmax does not fit the vocabulary or the biLM.
    """
    bilm = BiLM.load(directory, frozen=frozen, dtype=dtype)
    vocabulary = Vocabulary.read(os.path.join(directory, VOCABULARY))
    path = os.path.join(directory, SOFTMAX)
    with h5py.File(path, "r") as file:
        softmax = make_softmax(
            file.attrs["softmax"], len(vocabulary), bilm.config.projection_dim, dtype=dtype
        )
        for key, variable in softmax.named_variables().items():
            if key not in file or file[key].shape != tuple(variable.shape):
                found = file[key].shape if key in file else "nothing"
                raise ValueError(
                    f"{path}: dataset '{key}' must have shape {tuple(variable.shape)} for the "
                    f"{len(vocabulary)} words of {VOCABULARY}. Received: {found}. "
                    "Give the files of one training run."
                )
            variable.assign(file[key][()].astype(np.float32))
    return BidirectionalLanguageModel(bilm, softmax, vocabulary)
