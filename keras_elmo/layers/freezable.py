"""The base of all layers of the biLM."""

import contextlib
import contextvars

import keras
import tensorflow as tf

_has_initial_values = contextvars.ContextVar("has_initial_values", default=True)


@contextlib.contextmanager
def without_initial_values():
    """Within the block, weights are made without values, for one who sets all of them at once.

    A large biLM would otherwise be drawn at random first, which takes seconds and its size once
    more in memory.
    """
    token = _has_initial_values.set(False)
    try:
        yield
    finally:
        _has_initial_values.reset(token)


def _no_values(shape, dtype):
    return tf.raw_ops.Empty(shape=shape, dtype=tf.as_dtype(dtype), init=False)


class FreezableLayer(keras.layers.Layer):
    """A layer of the biLM: float32 weights that are trainable by construction or never.

    Keras re-enables every child when `trainable` is set on a parent; a weight that was created
    non-trainable stays so. Inputs and weights are not autocast: under a mixed policy only the
    products run in the compute dtype, states and sums stay float32.

    Args:
        frozen: bool, whether the weights are created non-trainable.
    """

    def __init__(self, frozen=False, **kwargs):
        super().__init__(autocast=False, **kwargs)
        self.frozen = frozen

    def add_bilm_weight(self, name, shape, initializer="glorot_uniform"):
        """Create a float32 weight, trainable unless the layer is frozen."""
        return self.add_weight(
            name=name,
            shape=shape,
            initializer=initializer if _has_initial_values.get() else _no_values,
            dtype="float32",
            autocast=False,
            trainable=not self.frozen,
        )

    def get_config(self):
        return {**super().get_config(), "frozen": self.frozen}
