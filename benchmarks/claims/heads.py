"""Keras models over frozen layers that are in memory, out of the package's own layers."""

from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

from keras_elmo.basics.keras_internals import set_mask
from keras_elmo.layers.scalar_mix import ScalarMix
from keras_elmo.tasks.standardize import Standardize
from keras_elmo.tasks.tagger.tagger import LEARNING_RATE, TRAINING_BATCH

TEXT_BATCH = 60
TEST_BATCH = 128
HIDDEN = 256


class Found(NamedTuple):
    """What a fitted model gives.

    Attributes:
        labels: of the test examples, as a task's own.
        mixes: list of dicts of the mixes: `s`, a list of layer weights, and `gamma`.
    """

    labels: list
    mixes: list


def fit_texts(layers, task, seed, epochs, mix):
    """The tutorial's head: mix, mean over tokens, standardise, Dense(256), softmax; Adam.

    Returns:
        Found.
    """
    keras.utils.set_random_seed(seed)
    classes, targets = np.unique(task.train.labels, return_inverse=True)
    mixing, scale = ScalarMix(**mix), Standardize()
    scale.adapt([mixing(layers.train)[:, 0]])
    model = keras.Sequential(
        [
            keras.Input(layers.train.shape[1:]),
            mixing,
            keras.layers.Flatten(),
            scale,
            keras.layers.Dense(HIDDEN, "relu"),
            keras.layers.Dense(len(classes), "softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(layers.train, targets, TEXT_BATCH, epochs, verbose=0)
    best = model.predict(layers.test, TEST_BATCH, verbose=0).argmax(axis=1)
    return Found(classes[best].tolist(), [_told(mixing)])


class Tokens(NamedTuple):
    """Sentences of a part: a list each, an array a sentence.

    Attributes:
        layers: float16 (time, L + 1, dim).
        glove: float32 (time, dim).
        targets: int (time,), class numbers.
    """

    layers: list
    glove: list
    targets: list


class TokenModel(keras.Model):
    """A label a token: vectors, a bidirectional LSTM or none, more vectors, a softmax.

    Dropout is on the vectors that go in and on what the softmax takes, as in `keras_elmo.Tagger`.

    `at_input` and `at_output` tell which of "elmo" and "glove" go in, and stand beside the LSTM's
    outputs; `units`, in each direction, may be 0 for none; `mix` are arguments of `ScalarMix`.
    """

    def __init__(self, classes, at_input, at_output=(), units=0, mix=None, dropout=0.4):
        super().__init__()
        self.input_parts, self.output_parts = tuple(at_input), tuple(at_output)
        self.mixes = [
            ScalarMix(**(mix or {})) for parts in (at_input, at_output) if "elmo" in parts
        ]
        self.drop = keras.layers.Dropout(dropout)
        self.recurrent = None
        if units:
            self.recurrent = keras.layers.Bidirectional(
                keras.layers.LSTM(units, return_sequences=True)
            )
        self.head = keras.layers.Dense(classes, "softmax")

    def call(self, inputs, training=False):
        mask = inputs["mask"]
        x = self.drop(self._vectors(self.input_parts, 0, inputs), training=training)
        if self.recurrent is not None:
            x = self.drop(self.recurrent(x, mask=mask, training=training), training=training)
        if self.output_parts:
            more = self.drop(self._vectors(self.output_parts, -1, inputs), training=training)
            x = tf.concat([x, more], axis=-1)
        return set_mask(self.head(x), mask)

    def _vectors(self, parts, index, inputs):
        found = [inputs["glove"]] if "glove" in parts else []
        if "elmo" in parts:
            found.append(self.mixes[index](inputs["layers"], mask=inputs["mask"]))
        return tf.concat(found, axis=-1)


class TokenBatches(keras.utils.PyDataset):
    """Padded batches of sentences of about one length; shuffled each epoch with a seed."""

    def __init__(self, tokens, size, seed=None):
        super().__init__()
        self.tokens, self.size = tokens, size
        self.random = None if seed is None else np.random.default_rng(seed)
        self.lengths = np.array([len(row) for row in tokens.targets])
        self.rows = self._cut(np.argsort(self.lengths, kind="stable"))
        self.on_epoch_end()

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        rows = self.rows[index]
        layers, glove, targets = (_padded(part, rows) for part in self.tokens)
        mask = np.arange(targets.shape[1]) < self.lengths[rows, np.newaxis]
        return {"layers": layers.swapaxes(1, 2), "glove": glove, "mask": mask}, targets

    def on_epoch_end(self):
        if self.random is not None:
            order = np.lexsort((self.random.random(len(self.lengths)), self.lengths))
            self.rows = self._cut(order)
            self.random.shuffle(self.rows)

    def _cut(self, order):
        return [order[first : first + self.size] for first in range(0, len(order), self.size)]


def fit_tokens(model, train, test, seed, epochs):
    """Trains a TokenModel, with `Tagger`'s rate and batch; the class numbers of `test`, a list."""
    optimizer = keras.optimizers.Adam(LEARNING_RATE)
    model.compile(optimizer, "sparse_categorical_crossentropy", jit_compile=False)
    model.fit(TokenBatches(train, TRAINING_BATCH, seed), epochs=epochs, verbose=0)
    run = tf.function(lambda inputs: model(inputs, training=False), reduce_retracing=True)
    batches, found = TokenBatches(test, TEST_BATCH), [None] * len(test.targets)
    for number, rows in enumerate(batches.rows):
        best = run(batches[number][0]).numpy().argmax(axis=-1)
        for row, classes in zip(rows, best, strict=True):
            found[row] = classes[: batches.lengths[row]]
    return found


def mixes_of(model):
    """The mixes of a TokenModel as dicts, that of the input first."""
    return [_told(mix) for mix in model.mixes]


def _told(mix):
    return {"s": mix.layer_weights.tolist(), "gamma": float(mix.gamma.numpy())}


def _padded(arrays, rows):
    """Arrays (time, ...) of these rows as one of the longest's time, 0 after the others' ends."""
    own = [arrays[row] for row in rows]
    padded = np.zeros((len(own), max(map(len, own)), *own[0].shape[1:]), _dtype(own[0]))
    for row, array in zip(padded, own, strict=True):
        row[: len(array)] = array
    return padded


def _dtype(array):
    return np.float32 if array.dtype.kind == "f" else np.int32
