"""Keras heads over frozen layers: the learned mix with a linear layer, and a small network."""

from typing import NamedTuple

import keras
import numpy as np

from keras_elmo.layers.scalar_mix import ScalarMix
from keras_elmo.tasks.pooling import SequencePooling
from probing.layers import Layers
from probing.linear import statistics

NOT_ALLOWED = -1e9
ENOUGH_TOKENS = 50_000  # for means and deviations


class Part(NamedTuple):
    """The items of a training or held-out part.

    Attributes:
        layers: Layers.
        items: int `(n, time)`, the tokens of each item; -1 stands for none.
        targets: int `(n,)`, the class of each item, or None to predict.
        allowed: bool `(n, classes)`, the classes that each item may have, or None for all.
    """

    layers: Layers
    items: np.ndarray
    targets: np.ndarray | None = None
    allowed: np.ndarray | None = None

    def scale(self):
        """Mean and deviation of the tokens' vectors, float32 `(L + 1, dim)` each."""
        tokens = np.unique(self.items[self.items >= 0])
        return statistics(self.layers.vectors[tokens[:: 1 + len(tokens) // ENOUGH_TOKENS]])


class Batches(keras.utils.PyDataset):
    """Batches of items: standardised layers, mask and targets.

    Args:
        part: Part.
        scale: what `scale()` of the training part gives.
        size: int, items a batch.
        trim: bool, whether columns of `items` after a batch's longest item are left out.
        seed: int, to shuffle each epoch (items of about one length together), or None.
    """

    def __init__(self, part, scale, size, trim=False, seed=None):
        super().__init__()
        self.part, self.scale, self.size, self.trim = part, scale, size, trim
        self.random = None if seed is None else np.random.default_rng(seed)
        self.lengths = (part.items >= 0).sum(axis=1)
        self.batches = self._cut(np.arange(len(part.items)))
        self.on_epoch_end()

    def __len__(self):
        return len(self.batches)

    def __getitem__(self, index):
        rows = self.batches[index]
        at = self.part.items[rows]
        at = at[:, : self.lengths[rows].max()] if self.trim else at
        mask = at >= 0
        mean, deviation = self.scale
        vectors = (self.part.layers.vectors[at] - mean) / deviation
        vectors *= mask[..., np.newaxis, np.newaxis]
        inputs = {"layers": vectors.swapaxes(1, 2), "mask": mask}
        if self.part.allowed is not None:
            allowed = self.part.allowed[rows]
            inputs["penalty"] = np.where(allowed, 0, NOT_ALLOWED).astype(np.float32)
        return (inputs,) if self.part.targets is None else (inputs, self.part.targets[rows])

    def on_epoch_end(self):
        if self.random is not None:
            order = np.lexsort((self.random.random(len(self.lengths)), self.lengths))
            self.batches = self._cut(order)
            self.random.shuffle(self.batches)

    def _cut(self, order):
        return [order[first : first + self.size] for first in range(0, len(order), self.size)]


class MixHead(keras.Model):
    """`ScalarMix`, mean and maximum over the item's tokens (one token: itself), linear layer.

    Args:
        classes: int.
        pooling: `"mean"` for single tokens, `"both"` for texts.
        l2: float, penalty on the linear layer's weights.
    """

    def __init__(self, classes, pooling="mean", l2=0.0):
        super().__init__()
        self.mix = ScalarMix()
        self.pooling = SequencePooling(pooling)
        self.linear = keras.layers.Dense(classes, kernel_regularizer=keras.regularizers.L2(l2))

    def call(self, inputs):
        mixed = self.mix(inputs["layers"], mask=inputs["mask"])
        logits = self.linear(self.pooling(mixed, mask=inputs["mask"]))
        return logits + inputs["penalty"] if "penalty" in inputs else logits


class SmallHead(keras.Model):
    """All layers of an item's tokens, one hidden layer with dropout, classes."""

    def __init__(self, classes, units, dropout):
        super().__init__()
        self.stack = keras.Sequential(
            [
                keras.layers.Flatten(),
                keras.layers.Dense(units, activation="relu"),
                keras.layers.Dropout(dropout),
                keras.layers.Dense(classes),
            ]
        )

    def call(self, inputs, training=False):
        return self.stack(inputs["layers"], training=training)


def learned_mix(train, dev, classes, seed, epochs, rate, pooling="mean", l2=0.0, size=256):
    """Trains a `MixHead` on Part `train`.

    Returns:
        The classes of Part `dev`, int `(n,)`, and a dict of the mix: `s`, a list, and `gamma`.
    """
    keras.utils.set_random_seed(seed)
    head, scale = MixHead(classes, pooling, l2), train.scale()
    _fit(head, Batches(train, scale, size, trim=True, seed=seed), epochs, rate)
    mix = {"s": head.mix.layer_weights.tolist(), "gamma": float(head.mix.gamma.numpy())}
    return _predict(head, Batches(dev._replace(targets=None), scale, size, trim=True)), mix


def small_head(train, dev, classes, seed, epochs, rate, units=512, dropout=0.5, size=512):
    """Trains a `SmallHead` on Part `train`; the classes of Part `dev`, int `(n,)`."""
    keras.utils.set_random_seed(seed)
    head, scale = SmallHead(classes, units, dropout), train.scale()
    _fit(head, Batches(train, scale, size, seed=seed), epochs, rate)
    return _predict(head, Batches(dev._replace(targets=None), scale, size))


def _fit(head, batches, epochs, rate):
    """Cross-entropy, Adam, the rate falling to 0 as a cosine."""
    schedule = keras.optimizers.schedules.CosineDecay(rate, epochs * len(batches))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    head.compile(keras.optimizers.Adam(schedule), loss, jit_compile=False)
    head.fit(batches, epochs=epochs, verbose=0)


def _predict(head, batches):
    found = [head(batches[index][0]).numpy() for index in range(len(batches))]
    return np.concatenate([logits.argmax(axis=-1) for logits in found])
