"""Texts to embed, and what a reader of the written file sees."""

import gzip
import warnings

import h5py
import numpy as np

from keras_elmo import embed_corpus

LINES = ["see you at 8/9", "ok", "", "ok", "한국어 문장"]
WORDS = "the cat sat on a mat and saw another cat go by".split()
MANY = [" ".join(WORDS[k % 5 : k % 5 + 1 + k % 7]) for k in range(40)]
SHAPES = {"all": (3, 2, 16), "top": (2, 16), "average": (2, 16), "elmo": (2, 16), "default": (16,)}
FORMATS = ["hdf5", "npz"]


def write(lines, name="in.txt"):
    content = "".join(f"{line}\n" for line in lines).encode()
    with open(name, "wb") as file:
        file.write(gzip.compress(content) if name.endswith(".gz") else content)
    return name


def read(path):
    """dict of name to array of either format."""
    if path.endswith(".npz"):
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    with h5py.File(path) as file:
        return {name: file[name][()] for name in file if name != "sentence_to_index"}


def read_all(path):
    """Everything that a reader of the file can see."""
    if path.endswith(".npz"):
        with open(path, "rb") as file:
            return file.read()
    with h5py.File(path) as file:
        arrays = {name: (file[name][()].tolist(), dict(file[name].attrs)) for name in file}
        return arrays, {name: np.asarray(value).tolist() for name, value in file.attrs.items()}


def embed_quietly(*args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return embed_corpus(*args, **kwargs)
