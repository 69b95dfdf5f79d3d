"""The base of all layers of the biLM."""

import contextlib
import contextvars
import random
from collections.abc import Iterator

import keras
import tensorflow as tf

_choose = contextvars.ContextVar("choose", default=lambda initializer: initializer)


@contextlib.contextmanager
def without_initial_values() -> Iterator[None]:
    """Within the block, weights are made without values, for one who sets all of them at once.

    A large biLM would otherwise be drawn at random first, which takes seconds and its size once
    more in memory.
    """
    with _chosen_by(lambda _: _no_values):
        yield


@contextlib.contextmanager
def initial_values_of(seed: int) -> Iterator[None]:
    """Within the block, weights are drawn as a function of `seed` and of their order alone."""
    numbers = random.Random(f"{seed}")

    def choose(initializer):
        initializer = keras.initializers.get(initializer)
        config = initializer.get_config()
        if "seed" in config:
            config["seed"] = numbers.randrange(2**31)
        return type(initializer).from_config(config)

    with _chosen_by(choose):
        yield


@contextlib.contextmanager
def _chosen_by(choose):
    token = _choose.set(choose)
    try:
        yield
    finally:
        _choose.reset(token)


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
            initializer=_choose.get()(initializer),
            dtype="float32",
            autocast=False,
            trainable=not self.frozen,
        )
