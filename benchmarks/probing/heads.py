"""Keras heads over frozen layers: the learned mix with a linear layer, and a small network."""

import keras
import numpy as np

from keras_elmo.layers.scalar_mix import ScalarMix
from keras_elmo.tasks.pooling import SequencePooling

NOT_ALLOWED = -1e9


class Batches(keras.utils.PyDataset):
    """Batches of items, each a row of tokens: standardised layers, mask and targets.

    Args:
        layers: Layers.
        items: int `(n, time)`, the tokens of each item; -1 stands for none.
        scale: `(mean, deviation)` of the training part, float32 `(L + 1, dim)` each.
        targets: int `(n,)`, or None to predict.
        allowed: bool `(n, classes)`, the classes that each item may have, or None for all.
        size: int, items a batch.
        seed: int, to shuffle each epoch (items of about one length together), or None.
    """

    def __init__(self, layers, items, scale, targets=None, allowed=None, size=256, seed=None):
        super().__init__()
        self.layers, self.items, self.scale = layers, items, scale
        self.targets, self.allowed, self.size = targets, allowed, size
        self.random = None if seed is None else np.random.default_rng(seed)
        self.lengths = (items >= 0).sum(axis=1)
        self.batches = self._cut(np.arange(len(items)))
        self.on_epoch_end()

    def __len__(self):
        return len(self.batches)

    def __getitem__(self, index):
        rows = self.batches[index]
        at = self.items[rows]
        mask = at >= 0
        mean, deviation = self.scale
        vectors = (self.layers.vectors[at] - mean) / deviation * mask[..., np.newaxis, np.newaxis]
        inputs = {"layers": vectors.swapaxes(1, 2), "mask": mask}
        if self.allowed is not None:
            inputs["penalty"] = np.where(self.allowed[rows], 0.0, NOT_ALLOWED).astype(np.float32)
        return (inputs,) if self.targets is None else (inputs, self.targets[rows])

    def on_epoch_end(self):
        if self.random is not None:
            order = np.lexsort((self.random.random(len(self.items)), self.lengths))
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
    """All layers of a token, one hidden layer with dropout, classes."""

    def __init__(self, classes, units=512, dropout=0.5):
        super().__init__()
        self.hidden = keras.Sequential(
            [
                keras.layers.Flatten(),
                keras.layers.Dense(units, activation="relu"),
                keras.layers.Dropout(dropout),
                keras.layers.Dense(classes),
            ]
        )

    def call(self, inputs, training=False):
        return self.hidden(inputs["layers"], training=training)


def train(head, batches, epochs, rate):
    """Adam with a cosine schedule to zero, cross-entropy."""
    schedule = keras.optimizers.schedules.CosineDecay(rate, epochs * len(batches))
    head.compile(
        keras.optimizers.Adam(schedule),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        jit_compile=False,
    )
    head.fit(batches, epochs=epochs, verbose=0)


def predict(head, batches):
    """The most probable class of each item, int `(n,)`."""
    return head.predict(batches, verbose=0).argmax(axis=-1)
