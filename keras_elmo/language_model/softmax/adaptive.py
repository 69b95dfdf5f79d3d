"""A softmax by clusters of words of falling frequency."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from keras_elmo.language_model.softmax.full import FullSoftmax
from keras_elmo.layers.fast.row_counts import pad_rows
from keras_elmo.layers.freezable import FreezableLayer
from keras_elmo.layers.precision import matmul, product_dtype


class AdaptiveSoftmax(FreezableLayer):
    """Exact probabilities by clusters of falling frequency; most targets cost only the first.

    The head is a softmax over the words below the first cutoff and one entry a tail cluster.
    A word of cluster k has `p(w | h) = p(cluster k | h) softmax(h P_k W_k + b_k)_w`, so the
    probabilities of all words sum to 1. Grave et al. 2017, section 4.

    Args:
        vocabulary_size: number of words; ids are expected by falling frequency.
        hidden_dim: size of h.
        cutoffs: the first id of each tail cluster; those from `vocabulary_size` on are
            left out.
        div_value: cluster k projects h to `hidden_dim / div_value ** k`.

    Call arguments:
        hidden: float32 `(n, hidden_dim)`.
        targets: int32 `(n,)`, word ids.
        seed: int32 `(2,)` or None; this head draws nothing.

    Returns:
        float32 `(n,)`, `-log p(target | hidden)` in nats.
    """

    kind = "adaptive"

    def __init__(
        self,
        vocabulary_size: int,
        hidden_dim: int,
        cutoffs: Sequence[int] = (2_000, 10_000),
        div_value: int = 2,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.vocabulary_size = vocabulary_size
        self.hidden_dim = hidden_dim
        self.cutoffs = tuple(cutoff for cutoff in cutoffs if cutoff < vocabulary_size)
        self.div_value = div_value
        edges = (*self.cutoffs, vocabulary_size)
        self.head = FullSoftmax(
            edges[0] + len(self.cutoffs), hidden_dim, dtype=self.dtype_policy, name="head"
        )
        self.tails = [
            FullSoftmax(
                last - first,
                max(1, hidden_dim // div_value ** (k + 1)),
                dtype=self.dtype_policy,
                name=f"tail_{k}",
            )
            for k, (first, last) in enumerate(zip(edges[:-1], edges[1:], strict=True))
        ]
        self.build()

    def build(self, input_shape=None):
        self.projections = [
            self.add_bilm_weight(f"P_{k}", (self.hidden_dim, tail.hidden_dim))
            for k, tail in enumerate(self.tails)
        ]

    def call(self, hidden, targets, seed=None):
        cluster = self._cluster_of(targets)
        loss = self.head(hidden, targets=self._head_class(targets, cluster))
        for k, tail in enumerate(self.tails):
            rows = tf.where(cluster == k + 1)
            inside = tf.gather_nd(targets, rows) - self.cutoffs[k]
            inputs = pad_rows(tf.gather_nd(hidden, rows))
            below = matmul(inputs, self.projections[k], product_dtype(self))
            own_loss = tail(below, targets=pad_rows(inside))[: tf.shape(rows)[0]]
            loss = tf.tensor_scatter_nd_add(loss, rows, own_loss)
        return loss

    def _cluster_of(self, targets):
        """0 for words of the head, k + 1 for words of tail k."""
        return tf.add_n(
            [tf.zeros_like(targets)]
            + [tf.cast(targets >= cutoff, tf.int32) for cutoff in self.cutoffs]
        )

    def _head_class(self, targets, cluster):
        return tf.where(cluster == 0, targets, (self.cutoffs or (0,))[0] + cluster - 1)

    def log_probabilities(self, hidden: tf.Tensor) -> tf.Tensor:
        """`log p(w | h)` of every word, float32 `(n, vocabulary_size)`, in nats."""
        words = self.head.vocabulary_size - len(self.tails)
        head = self.head.log_probabilities(hidden)
        parts = [head[:, :words]]
        for k, tail in enumerate(self.tails):
            below = matmul(hidden, self.projections[k], product_dtype(self))
            parts.append(head[:, words + k, tf.newaxis] + tail.log_probabilities(below))
        return tf.concat(parts, axis=1)

    def named_variables(self) -> dict[str, keras.Variable]:
        """The weights as a dict of name to Keras variable."""
        table = {f"P_{k}": projection for k, projection in enumerate(self.projections)}
        for part in (self.head, *self.tails):
            for name, variable in part.named_variables().items():
                table[f"{part.name}/{name}"] = variable
        return table
