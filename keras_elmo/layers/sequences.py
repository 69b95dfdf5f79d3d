"""Pure functions on padded batches of sequences."""

import tensorflow as tf


def reverse_sequences(x: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
    """Reverse each row's first `lengths` positions of `(batch, time, ...)`, and no padding."""
    return tf.reverse_sequence(x, lengths, seq_axis=1, batch_axis=0)


def masked_mean(x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """`sum_t mask_t x_t / sum_t mask_t`, `(batch, dim)`; 0 in a row without a valid position."""
    weight = tf.cast(mask, x.dtype)[..., tf.newaxis]
    return tf.math.divide_no_nan(tf.reduce_sum(x * weight, axis=1), tf.reduce_sum(weight, axis=1))


def drop_boundaries(layers: tf.Tensor, mask: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Take the sentence boundaries off: `time + 2` positions become `time`.

    Layers `(batch, layers, time, dim)` are 0 where the mask `(batch, time)` is False, where a
    shorter row's end of sentence stood too.
    """
    mask = mask[:, 2:]
    keep = tf.cast(mask, layers.dtype)[:, tf.newaxis, :, tf.newaxis]
    return layers[:, :, 1:-1] * keep, mask
