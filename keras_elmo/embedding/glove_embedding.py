"""`GloVeEmbedding`: tokens to their word vectors, with a mask."""

import os
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from keras_elmo.basics.checks import check_choice, check_flag
from keras_elmo.basics.keras_internals import StringLayer, set_mask
from keras_elmo.embedding.load_glove import load_glove
from keras_elmo.embedding.word_vectors import WordVectors
from keras_elmo.text.tokens import as_tokens

UNKNOWN = ("mean", "zero")
_N_SPECIAL = 2  # rows of the table before the words': padding, unknown
_CONFIG_SOURCE = ("words", "dim")


@keras.saving.register_keras_serializable(package="keras_elmo")
class GloVeEmbedding(StringLayer):
    """Looks word vectors up: `x_t = V[w_t]` for tokens w_1, ..., w_T.

    A token that has no vector takes that of its lower-cased form; where that has none either, the
    mean of all vectors, or zeros. Padding gives zeros. The output carries the Keras mask
    (batch, time), True at tokens. Words and vectors are saved with the model, so that it loads
    without the file.

    Args:
        source: path of a file for `load_glove`, or `WordVectors`.
        lower: whether lower-cased forms are looked up.
        unknown: "mean" or "zero", the vector of tokens without one.
        fine_tune: whether the vectors train, that of unknown tokens among them.
        **kwargs: passed to `keras.layers.Layer`.

    Call arguments:
        inputs: tokens: string (batch, time), `""` at padding; RaggedTensor or list of lists
            (batch, None).

    Attributes:
        table: lookup table of words to rows of `vectors`.

    Returns:
        float32 (batch, time, dim); time is at least 1.

    Raises:
        ValueError: an argument out of range, or inputs of another shape.
        TypeError: `source` is neither of both, or inputs are no tokens.
        FileNotFoundError: nothing is at the path.

    Example:

    >>> vectors = WordVectors(["to", "be"], [[1, 2], [3, 4]])
    >>> GloVeEmbedding(vectors)([["To", "be"], ["or"]]).numpy().tolist()
    [[[1.0, 2.0], [3.0, 4.0]], [[2.0, 3.0], [0.0, 0.0]]]
    """

    def __init__(
        self,
        source: str | os.PathLike | WordVectors,
        lower: bool = True,
        unknown: str = "mean",
        fine_tune: bool = False,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.supports_masking = True
        check_choice("unknown", unknown, UNKNOWN)
        self.lower = check_flag("lower", lower)
        self.unknown = unknown
        self.fine_tune = check_flag("fine_tune", fine_tune)
        words, vectors = _words_and_vectors(source)
        self.words, self.dim = words, vectors.shape[1]
        self.table = _row_numbers(words)
        self.vectors = self.add_weight(
            name="vectors",
            shape=(len(words) + _N_SPECIAL, self.dim),
            dtype="float32",
            initializer="zeros",
            autocast=False,
            trainable=self.fine_tune,
        )
        self.vectors.assign(_with_special(vectors, unknown))
        self.build()

    def build(self, input_shape=None):
        """Does nothing: the vectors are there already."""

    def call(self, inputs):
        tokens = _padded(inputs)
        rows = self.table.lookup(tokens)
        if self.lower:
            lower = self.table.lookup(tf.strings.lower(tokens, encoding="utf-8"))
            rows = tf.where(rows < _N_SPECIAL, lower, rows)
        mask = tf.not_equal(tokens, "")
        vectors = tf.gather(tf.convert_to_tensor(self.vectors), rows)
        vectors = tf.where(mask[..., tf.newaxis], vectors, 0.0)
        return set_mask(vectors, mask)

    def compute_mask(self, inputs, previous_mask=None):
        """Bool (batch, time); `call` sets the same. None in a symbolic call: it comes later."""
        if isinstance(inputs, keras.KerasTensor):
            return None
        return tf.not_equal(_padded(inputs), "")

    def compute_output_shape(self, input_shape):
        return (*input_shape[:2], self.dim)

    def compute_output_spec(self, inputs: keras.KerasTensor) -> keras.KerasTensor:
        return keras.KerasTensor(self.compute_output_shape(inputs.shape), "float32")

    def get_config(self):
        return {
            **super().get_config(),
            "source": {"words": list(self.words), "dim": self.dim},
            "lower": self.lower,
            "unknown": self.unknown,
            "fine_tune": self.fine_tune,
        }


def _words_and_vectors(source):
    """Words, and vectors (n, dim): zeros for a config, to be loaded afterwards."""
    if isinstance(source, dict) and set(source) == set(_CONFIG_SOURCE):
        words = tuple(source["words"])
        return words, np.zeros((len(words), source["dim"]), np.float32)
    if isinstance(source, (str, os.PathLike)):
        source = load_glove(source)
    if not isinstance(source, WordVectors):
        raise TypeError(
            "`source` must be the path of a file of word vectors, or WordVectors. "
            f"Received: {source!r:.60} of type {type(source).__name__}."
        )
    return source.words, source.vectors


def _row_numbers(words):
    """The table from a word to its row: 0 for padding, 1 for words that are not among `words`."""
    keys = tf.constant(["", *words])
    values = tf.concat([[0], tf.range(_N_SPECIAL, _N_SPECIAL + len(words), dtype=tf.int64)], 0)
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), 1)


def _with_special(vectors, unknown):
    mean = vectors.mean(axis=0, dtype=np.float64) if unknown == "mean" else 0.0
    special = np.zeros((_N_SPECIAL, vectors.shape[1]), np.float32)
    special[1] = mean
    return np.concatenate([special, vectors])


def _padded(inputs):
    """Tokens as a dense tensor (batch, time), time at least 1."""
    if tf.is_tensor(inputs) and not isinstance(inputs, tf.RaggedTensor):
        if inputs.dtype != tf.string or inputs.shape.rank != 2:
            raise ValueError(
                "`inputs` must be tokens, a string tensor of shape (batch, time). "
                f"Received: dtype={inputs.dtype.name}, shape={inputs.shape}. "
                "Split raw sentences into tokens first."
            )
        padded = inputs
    else:
        padded = as_tokens(inputs).to_tensor("")
    return tf.pad(padded, [[0, 0], [0, tf.maximum(0, 1 - tf.shape(padded)[1])]], constant_values="")
