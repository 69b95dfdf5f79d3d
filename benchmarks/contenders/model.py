"""The biLM that all contenders run: random weights in a published shape."""

import numpy as np

from keras_elmo.bilm.bilm import BiLM
from keras_elmo.bilm.config import BiLMConfig

SHAPES = {
    "original": {"lstm_dim": 4096, "projection_dim": 512, "n_highway": 2},
    "medium": {"lstm_dim": 2048, "projection_dim": 256, "n_highway": 1},
    "small": {"lstm_dim": 1024, "projection_dim": 128, "n_highway": 1},
    "tiny": {
        "lstm_dim": 12,
        "projection_dim": 8,
        "n_highway": 1,
        "char_dim": 4,
        "filters": ((1, 4), (2, 6), (3, 8)),
    },  # to try the command
}


def make_model(name, directory):
    """Writes a biLM with seeded weights that keep its gates alive; returns its BiLMConfig."""
    bilm = BiLM(BiLMConfig(**SHAPES[name]))
    rng = np.random.default_rng(0)
    arrays = {}
    for key, array in bilm.arrays().items():
        scale = 0.1 if array.ndim == 1 else np.prod(array.shape[:-1]) ** -0.5
        arrays[key] = rng.standard_normal(array.shape, np.float32) * np.float32(scale)
    bilm.set_arrays(arrays)
    bilm.save(directory)
    return bilm.config
