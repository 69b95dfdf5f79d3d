"""`SequencePooling`: from vectors of tokens to one vector a sentence."""

import keras
import tensorflow as tf

from keras_elmo.layers.sequences import masked_mean

POOLINGS = ("mean", "max", "both")


@keras.saving.register_keras_serializable(package="keras_elmo")
class SequencePooling(keras.Layer):
    """Mean, maximum or both over a row's valid positions.

    mean: `sum_t mask_t x_t / sum_t mask_t`; max: `max over valid t of x_t`; both: the two
    concatenated, mean first. A row with no valid position gives zeros. The mask ends here.

    Args:
        pooling: "mean", "max" or "both".

    Call arguments:
        inputs: float (batch, time, dim).
        mask: bool (batch, time) or None (every position is valid).

    Returns:
        Float of the compute dtype, (batch, dim), or (batch, 2 * dim) for "both".

    Raises:
        ValueError: an unknown `pooling`.

    Example:

    >>> SequencePooling("both")(tf.ones((2, 5, 16))).shape
    TensorShape([2, 32])
    """

    def __init__(self, pooling="both", **kwargs):
        super().__init__(**kwargs)
        if pooling not in POOLINGS:
            raise ValueError(f"`pooling` must be one of {POOLINGS}. Received: {pooling!r}.")
        self.pooling = pooling
        self.supports_masking = True

    def call(self, inputs, mask=None):
        if mask is None:
            mask = tf.ones(tf.shape(inputs)[:2], tf.bool)
        parts = []
        if self.pooling in ("mean", "both"):
            parts.append(masked_mean(inputs, mask))
        if self.pooling in ("max", "both"):
            parts.append(masked_max(inputs, mask))
        return tf.cast(tf.concat(parts, -1), self.compute_dtype)

    def compute_output_shape(self, input_shape):
        factor = 2 if self.pooling == "both" else 1
        return (input_shape[0], factor * input_shape[-1])

    def compute_mask(self, inputs, previous_mask=None):
        return None

    def get_config(self):
        return {**super().get_config(), "pooling": self.pooling}


def pool_rows(rows, pooling):
    """As `SequencePooling`, of rows without padding.

    Args:
        rows: RaggedTensor float `(batch, None, dim)`.
        pooling: "mean", "max" or "both".

    Returns:
        Float `(batch, dim)`, or `(batch, 2 * dim)` for "both".
    """
    x, row_of = rows.flat_values, rows.value_rowids()
    parts = []
    if pooling in ("mean", "both"):
        parts.append(tf.math.segment_mean(x, row_of))
    if pooling in ("max", "both"):
        parts.append(tf.math.segment_max(x, row_of))
    pooled = tf.concat(parts, -1)  # 0 for empty rows, without those at the end
    return tf.pad(pooled, [[0, tf.cast(rows.nrows(), tf.int32) - tf.shape(pooled)[0]], [0, 0]])


def masked_max(x, mask):
    """The largest value of each feature over valid positions; zeros where a row has none.

    Args:
        x: float (batch, time, dim).
        mask: bool (batch, time).

    Returns:
        Float (batch, dim) of `x`'s dtype.
    """
    lowest = tf.constant(x.dtype.min, x.dtype)
    largest = tf.reduce_max(tf.where(mask[:, :, None], x, lowest), axis=1)
    return tf.where(tf.reduce_any(mask, axis=1)[:, None], largest, tf.zeros_like(largest))
