"""A TF-Hub module as a biLM of ours, proved by its vectors."""

from typing import NamedTuple

import numpy as np
import tensorflow as tf

from keras_elmo.bilm.bilm import BiLM
from keras_elmo.embedding.sources.hub_checkpoint import possible_configs, read_tensors
from keras_elmo.embedding.sources.hub_module import HubModule

# Words of every kind of length and script, one sentence as long as they come, one of one word.
SAMPLE = (
    ["We", "sat", "on", "the", "bank", "of", "the", "river", "."],
    ["The", "bank", "raised", "its", "interest", "rates", "again", ",", "to", "3.25", "%", "!"],
    ["Über", "한국어", "📣", "don't", "x" * 60, "e-mail", "A"],
    ["no"],
    ["and", "then", "another", "word", "followed", "by", "one", "more"] * 12,
)
# The largest difference of vectors, of the largest value in their layer: what float32 leaves.
TOLERANCE = 1e-4


class Conversion(NamedTuple):
    """A converted module.

    Attributes:
        bilm: frozen.
        difference: the largest of the vectors' differences on the sample, of the largest value in
            their layer.
    """

    bilm: BiLM
    difference: float


def convert(module: HubModule) -> Conversion:
    """Reads a module's variables into a biLM that gives the same vectors.

    Raises:
        ValueError: the variables are not those of a biLM, or vectors differ from the module's own.
    """
    tokens = tf.ragged.constant(SAMPLE)
    expected, mask = (np.asarray(x) for x in module(tokens))
    projection_dim, n_layers = module.output_dim // 2, module.num_layers - 1
    arrays = read_tensors(module.directory, projection_dim)
    smallest = np.inf
    for config in possible_configs(arrays, projection_dim, n_layers, module.tokenizer):
        bilm = BiLM(config)
        bilm.set_arrays(arrays)
        difference = _difference(expected, mask, np.asarray(bilm.embed_tokens(tokens).layers))
        if difference <= TOLERANCE:
            return Conversion(bilm, difference)
        smallest = min(smallest, difference)
    raise ValueError(
        f"The biLM read from {module.directory} must give the module's own vectors, within "
        f"{TOLERANCE:.0e} of the largest value. Received: vectors that differ by {smallest:.1e}, "
        "with ReLU or tanh, with or without skip connections and clips. Use the module as it is, "
        "without `native=True`."
    )


def _difference(expected, mask, layers):
    """The largest difference, of the largest value in its layer; `layers` with boundaries."""
    layers = np.where(mask[:, np.newaxis, :, np.newaxis], layers[:, :, 1:-1], 0.0)
    largest = np.abs(expected).max(axis=(0, 2, 3))
    return float((np.abs(layers - expected).max(axis=(0, 2, 3)) / largest).max())
