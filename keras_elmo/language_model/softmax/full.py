"""The softmax over the whole vocabulary."""

from typing import Any

import keras
import numpy as np
import tensorflow as tf

from keras_elmo.language_model.softmax.cross_entropy import cross_entropy
from keras_elmo.layers.freezable import FreezableLayer
from keras_elmo.layers.precision import affine, product_dtype


class FullSoftmax(FreezableLayer):
    """`p(w | h) = softmax(h W + b)_w` over the whole vocabulary.

    Args:
        vocabulary_size: number of words.
        hidden_dim: size of h.

    Call arguments:
        hidden: float32 `(n, hidden_dim)`.
        targets: int32 `(n,)`, word ids.
        seed: int32 `(2,)` or None; this head draws nothing.

    Returns:
        float32 `(n,)`, `-log p(target | hidden)` in nats.
    """

    kind = "full"

    def __init__(self, vocabulary_size: int, hidden_dim: int, **kwargs: Any):
        super().__init__(**kwargs)
        self.vocabulary_size = vocabulary_size
        self.hidden_dim = hidden_dim
        self.build()

    def build(self, input_shape=None):
        shape = (self.hidden_dim, self.vocabulary_size)
        self.W = self.add_bilm_weight("W", shape)
        self.b = self.add_bilm_weight("b", shape[1:], "zeros")

    def call(self, hidden, targets, seed=None):
        return cross_entropy(self._logits(hidden), targets)

    def log_probabilities(self, hidden: tf.Tensor) -> tf.Tensor:
        """`log p(w | h)` of every word, float32 `(n, vocabulary_size)`, in nats."""
        return tf.nn.log_softmax(self._logits(hidden))

    def named_variables(self) -> dict[str, keras.Variable]:
        """The weights as a dict of name to Keras variable."""
        return {"W": self.W, "b": self.b}

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Each word's weights, float32 arrays `(vocabulary_size, hidden_dim)` and `(size,)`."""
        return np.asarray(self.W).T, np.asarray(self.b)

    def set_rows(self, weights: np.ndarray, biases: np.ndarray) -> None:
        """Set each word's weights, arrays as `rows` gives them."""
        self.W.assign(weights.T)
        self.b.assign(biases)

    def _logits(self, hidden):
        return affine(hidden, self.W, self.b, product_dtype(self))
