"""The frozen layers of a biLM over sentences, kept in memory."""

from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

from keras_elmo.bilm.bilm import BiLM

BATCH = 128


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
    run = tf.function(
        lambda tokens: tf.cast(bilm.embed_tokens(tokens).layers, tf.float16),
        input_signature=[tf.RaggedTensorSpec([None, None], tf.string, ragged_rank=1)],
        autograph=False,
    )

    def embed(sentences):
        lengths = np.array([len(sentence) for sentence in sentences])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        vectors = np.empty((starts[-1], bilm.num_layers, bilm.output_dim), np.float16)
        order = np.argsort(lengths, kind="stable")
        for first in range(0, len(order), BATCH):
            rows = order[first : first + BATCH]
            tokens = tf.ragged.constant([sentences[row] for row in rows], tf.string, ragged_rank=1)
            for row, layers in zip(rows, run(tokens).numpy(), strict=True):
                own = layers[:, 1 : lengths[row] + 1]  # without the sentence boundaries
                vectors[starts[row] : starts[row + 1]] = own.swapaxes(0, 1)
        return Layers(vectors, starts)

    return embed


def untrained(bilm, seed):
    """A biLM of the same config with the random weights that training starts from."""
    keras.utils.set_random_seed(seed)
    return BiLM(bilm.config)
