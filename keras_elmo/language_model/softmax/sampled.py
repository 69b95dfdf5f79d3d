"""A softmax whose training loss looks at a sample of the vocabulary."""

import math
from typing import Any

import numpy as np
import tensorflow as tf

from keras_elmo.language_model.softmax.cross_entropy import cross_entropy
from keras_elmo.language_model.softmax.full import FullSoftmax
from keras_elmo.layers.precision import affine, product_dtype

MOST_SAMPLES = 8192  # of the published models, at 800,000 words


class SampledSoftmax(FullSoftmax):
    """`FullSoftmax`, trained on the target and a sample of other words.

    With a seed the loss is `-log softmax(h W_w + b_w - log Q_w)` of the target among itself and
    the drawn words S, all other than the target, where `Q_w` is the probability that w is drawn.
    The more are drawn, the nearer the loss is to the exact one. Jean et al. 2015, section 3.

    Words are drawn without replacement by `p_w = log((w + 2) / (w + 1)) / log(size + 1)`, which
    is Zipf's law for ids by falling frequency: every word has a clock that rings after a time of
    exponential distribution with the rate `p_w`, and S are the first that ring. Given the time T
    of the first clock after them, `Q_w = 1 - exp(-p_w T)` (Cohen & Kaplan 2008).

    Args:
        vocabulary_size: number of words; ids are expected by falling frequency.
        hidden_dim: size of h.
        n_samples: words drawn a call, at most the whole vocabulary (the loss is exact
            then); None: a tenth of the vocabulary, at most 8,192.

    Call arguments:
        hidden: float32 `(n, hidden_dim)`.
        targets: int32 `(n,)`, word ids.
        seed: int32 `(2,)` that the draws are a function of, or None for the exact loss.

    Returns:
        float32 `(n,)`, in nats: `-log p(target | hidden)` without a seed; with one the sampled
        loss, which has the same minimum but is lower: no perplexity.

    Raises:
        ValueError: `n_samples` is below 1.
    """

    kind = "sampled"

    def __init__(
        self,
        vocabulary_size: int,
        hidden_dim: int,
        n_samples: int | None = None,
        **kwargs: Any,
    ):
        super().__init__(vocabulary_size, hidden_dim, **kwargs)
        if n_samples is None:
            n_samples = min(MOST_SAMPLES, max(1, vocabulary_size // 10))
        if n_samples < 1:
            raise ValueError(
                f"`n_samples` must be at least 1. Received: {n_samples}. "
                "Give None for a tenth of the vocabulary."
            )
        self.n_samples = min(n_samples, vocabulary_size)

    def build(self, input_shape=None):
        # A row a word, so that drawing words reads and updates only their rows.
        self.W = self.add_bilm_weight("W", (self.vocabulary_size, self.hidden_dim))
        self.b = self.add_bilm_weight("b", (self.vocabulary_size,), "zeros")

    def call(self, hidden, targets, seed=None):
        if seed is None or self.n_samples == self.vocabulary_size:
            return super().call(hidden, targets)
        drawn, time = self.draw(seed)
        logits = self._sampled_logits(hidden, targets, drawn, time)
        return cross_entropy(logits, tf.zeros_like(targets))

    def draw(self, seed: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Draw `n_samples` distinct words.

        Args:
            seed: int32 `(2,)`.

        Returns:
            `(ids, time)`: int32 `(n_samples,)` and the float32 scalar T of `log_inclusion`.
        """
        uniform = tf.random.stateless_uniform((self.vocabulary_size,), seed)
        rings = -tf.math.log1p(-uniform) / self._rates(tf.range(self.vocabulary_size))
        times, ids = tf.math.top_k(-rings, self.n_samples + 1)
        return ids[:-1], -times[-1]

    def log_inclusion(self, ids: tf.Tensor, time: tf.Tensor) -> tf.Tensor:
        """`log Q`, the float32 log-probability that each of `ids` has rung before `time`."""
        return tf.math.log(-tf.math.expm1(-self._rates(ids) * time))

    def _rates(self, ids):
        rank = tf.cast(ids, tf.float32) + 1.0
        return tf.math.log1p(1.0 / rank) / math.log(self.vocabulary_size + 1)

    def _sampled_logits(self, hidden, targets, drawn, time):
        """Column 0: each row's target; then the drawn words, without that target."""
        n = tf.range(tf.shape(targets)[0])
        rows = tf.pad(tf.gather(tf.convert_to_tensor(self.W), drawn), [[1, 0], [0, 0]])
        biases = tf.pad(self._corrected_biases(drawn, time), [[1, 0]])
        logits = affine(hidden, tf.transpose(rows), biases, product_dtype(self))
        # Two sparse additions, for masks over all logits would cost as much as their product.
        columns = tf.gather(self._columns(drawn), targets)
        taken = tf.where(columns > 0, tf.float32.min, 0.0)
        cells = tf.concat([tf.stack([n, tf.zeros_like(n)], 1), tf.stack([n, columns], 1)], axis=0)
        own = self._target_logits(hidden, targets, time)
        return tf.tensor_scatter_nd_add(logits, cells, tf.concat([own, taken], axis=0))

    def _columns(self, drawn):
        """The column of each word of the vocabulary; 0 for those that are not drawn."""
        columns = tf.range(1, self.n_samples + 1)
        return tf.scatter_nd(drawn[:, tf.newaxis], columns, (self.vocabulary_size,))

    def _target_logits(self, hidden, targets, time):
        products = hidden * tf.gather(tf.convert_to_tensor(self.W), targets)
        return tf.reduce_sum(products, axis=1) + self._corrected_biases(targets, time)

    def _corrected_biases(self, ids, time):
        return tf.gather(tf.convert_to_tensor(self.b), ids) - self.log_inclusion(ids, time)

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        return np.asarray(self.W), np.asarray(self.b)

    def set_rows(self, weights: np.ndarray, biases: np.ndarray) -> None:
        self.W.assign(weights)
        self.b.assign(biases)

    def _logits(self, hidden):
        rows = tf.convert_to_tensor(self.W)
        return affine(hidden, tf.transpose(rows), self.b, product_dtype(self))
