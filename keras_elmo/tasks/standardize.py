"""`Standardize`: features brought to mean 0 and variance 1 of the training data."""

import keras
import numpy as np
import tensorflow as tf


@keras.saving.register_keras_serializable(package="keras_elmo")
class Standardize(keras.Layer):
    """Standardises features: `(x - mean) / sqrt(variance)`, with statistics set from data.

    The statistics are non-trainable weights, saved with the model: mean 0 and variance 1, so that
    the layer changes nothing, until `adapt` sets them. A feature that is constant in the data
    keeps variance 1: it becomes 0 there, and small elsewhere. The arithmetic is float32 (at least)
    under every policy. Passes a mask on unchanged.

    Call arguments:
        inputs: float (..., dim).

    Returns:
        Float of the compute dtype, same shape.

    Example:

    >>> layer = Standardize()
    >>> layer.adapt([np.array([[1.0], [3.0]]), np.array([[5.0]])])
    >>> float(layer(np.array([[3.0]]))[0, 0])
    0.0
    """

    def __init__(self, **kwargs):
        super().__init__(autocast=False, **kwargs)
        self.supports_masking = True

    def build(self, input_shape):
        def statistic(name, initializer):
            return self.add_weight(
                name=name,
                shape=(input_shape[-1],),
                dtype="float32",
                initializer=initializer,
                trainable=False,
                autocast=False,
            )

        self.mean = statistic("mean", "zeros")
        self.variance = statistic("variance", "ones")
        self.n_rows = self.add_weight(
            name="n_rows", shape=(), dtype="int32", initializer="zeros", trainable=False
        )

    @property
    def adapted(self):
        """Whether the statistics were set from data."""
        return bool(self.built and int(self.n_rows.numpy()) > 0)

    def adapt(self, batches):
        """Sets mean and (population) variance from all rows of all batches.

        Args:
            batches: iterable of float arrays or tensors (rows, dim).

        Raises:
            ValueError: there is no row.
        """
        n, mean, deviations = 0, 0.0, 0.0
        for batch in batches:
            n, mean, deviations = _merge(n, mean, deviations, np.asarray(batch, np.float64))
        if n == 0:
            raise ValueError("`batches` must hold at least one row. Received: none.")
        if not self.built:
            self.build((None, len(mean)))
        variance = deviations / n
        constant = variance <= 1e-12 * (variance + mean**2)
        self.mean.assign(mean)
        self.variance.assign(np.where(constant, 1.0, variance))
        self.n_rows.assign(n)

    def call(self, inputs):
        x = tf.cast(inputs, tf.float32)
        return tf.cast((x - self.mean) / tf.sqrt(self.variance), self.compute_dtype)

    def compute_output_shape(self, input_shape):
        return input_shape


def _merge(n, mean, deviations, batch):
    """Adds a batch to count, mean and summed squared deviations (Chan, Golub, LeVeque 1979)."""
    n_batch = len(batch)
    if n_batch == 0:
        return n, mean, deviations
    batch_mean = batch.mean(axis=0)
    total = n + n_batch
    delta = batch_mean - mean
    squares = ((batch - batch_mean) ** 2).sum(axis=0) + delta**2 * (n * n_batch / total)
    return total, mean + delta * (n_batch / total), deviations + squares
