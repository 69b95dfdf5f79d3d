"""The frozen layers of a biLM over sentences, kept in memory."""

from typing import NamedTuple

import keras
import numpy as np

import keras_elmo
from keras_elmo.bilm.bilm import BiLM


class Layers(NamedTuple):
    """Layers of sentences, end to end.

    Attributes:
        vectors: float16 `(tokens, L + 1, dim)`.
        starts: int `(sentences + 1,)`, the token where each sentence starts; then the number of
            tokens.
    """

    vectors: np.ndarray
    starts: np.ndarray

    @property
    def names(self):
        """The names of the L + 1 layers."""
        return ("token vector", *(f"layer {k}" for k in range(1, self.vectors.shape[1])))

    def rows(self):
        """The tokens of each sentence, int `(sentences, longest)`; -1 after its end."""
        at = self.starts[:-1, np.newaxis] + np.arange(np.diff(self.starts).max())
        return np.where(at < self.starts[1:, np.newaxis], at, -1)

    def windows(self, reach):
        """The tokens around each token, int `(tokens, 1 + 2 * reach)`; -1 outside its sentence."""
        sentence = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        at = np.arange(len(sentence))[:, np.newaxis] + np.arange(-reach, reach + 1)
        first, end = self.starts[sentence, np.newaxis], self.starts[sentence + 1, np.newaxis]
        return np.where((at >= first) & (at < end), at, -1)

    def pooled(self):
        """Mean and maximum over each sentence's tokens, float32 `(sentences, L + 1, 2 * dim)`."""
        rows = []
        for start, end in zip(self.starts[:-1], self.starts[1:], strict=True):
            sentence = self.vectors[start:end].astype(np.float32)
            rows.append(np.concatenate([sentence.mean(axis=0), sentence.max(axis=0)], axis=-1))
        return np.stack(rows)


def embedder(bilm):
    """A function from tokenised sentences to `Layers`."""
    run = keras_elmo.Embedder(bilm, output="layers", inputs="tokens")

    def embed(sentences):
        starts = np.concatenate([[0], np.cumsum([len(sentence) for sentence in sentences])])
        vectors = np.empty((starts[-1], bilm.num_layers, bilm.output_dim), np.float16)
        for rows, outputs in run.runs(run.tokens(sentences)):
            for row, layers in zip(rows, outputs, strict=True):
                vectors[starts[row] : starts[row + 1]] = layers.swapaxes(0, 1)
        return Layers(vectors, starts)

    return embed


def untrained(bilm, seed):
    """A biLM of the same config with the random weights that training starts from."""
    keras.utils.set_random_seed(seed)
    return BiLM(bilm.config)
