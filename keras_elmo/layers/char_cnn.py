"""The character convolution of the token encoder."""

import functools

import keras
import tensorflow as tf

from keras_elmo.layers.fast.row_counts import pad_rows
from keras_elmo.layers.fast.traced import traced_once
from keras_elmo.layers.freezable import FreezableLayer
from keras_elmo.layers.precision import matmul, product_dtype

LENGTHS = (6, 7, 8, 9, 10, 12, 16)  # bytes with the word's marks; most English words have at most 8


class CharCNN(FreezableLayer):
    """Character ids to features: `concat_k act(max_position(conv_k(embed(ids)) + b_k))`.

    Each convolution runs over the character positions with valid padding; the activation comes
    after the maximum. Peters et al. 2018, section 3.4 (after Kim et al. 2015).

    Id 0 ("no character") embeds to the zero vector and has no weight. Words of like length are
    convolved together, all filters in one product, and windows that begin where all of them only
    repeat their last id are computed once: they are equal.

    Args:
        filters: sequence of `(width, count)` pairs, in file order.
        n_characters: int, number of ids above 0.
        char_dim: int, size of a character vector.
        activation: `"relu"` or `"tanh"`.

    Call arguments:
        char_ids: int32 `(words, characters)`, values 0..n_characters.

    Returns:
        float32 `(words, sum of counts)`.

    Source: `allenai/bilm-tf`, `BidirectionalLanguageModelGraph._build_word_char_embeddings`.
    """

    def __init__(
        self, filters, n_characters, char_dim=16, activation="relu", frozen=False, **kwargs
    ):
        super().__init__(frozen=frozen, **kwargs)
        self.filters = tuple((int(width), int(count)) for width, count in filters)
        self.n_characters = n_characters
        self.char_dim = char_dim
        self.activation = activation
        self._widest = max(width for width, _ in self.filters)

    def build(self, input_shape=None):
        self.char_embed = self.add_bilm_weight(
            "char_embed",
            (self.n_characters, self.char_dim),
            keras.initializers.RandomUniform(-1.0, 1.0),
        )
        self.kernels = []
        self.biases = []
        for k, (width, count) in enumerate(self.filters):
            shape = (1, width, self.char_dim, count)
            self.kernels.append(self.add_bilm_weight(f"W_cnn_{k}", shape, "he_normal"))
            self.biases.append(self.add_bilm_weight(f"b_cnn_{k}", (count,), "zeros"))

    def call(self, char_ids):
        groups = self._rows_by_length(char_ids)
        kernel = self._kernel()
        bounds = (*LENGTHS, char_ids.shape[1])
        features = [
            self._features(tf.gather(char_ids, rows), kernel, bound)
            for rows, bound in zip(groups, bounds, strict=True)
        ]
        return tf.dynamic_stitch(groups, features)

    def _rows_by_length(self, char_ids):
        """The rows of short words, of longer ones, and so on."""
        lengths = tf.reduce_sum(tf.cast(char_ids != char_ids[:, -1:], tf.int32), axis=1)
        group = tf.searchsorted(LENGTHS, lengths)
        return tf.dynamic_partition(tf.range(tf.shape(char_ids)[0]), group, len(LENGTHS) + 1)

    def _kernel(self):
        """All filters side by side as one of the widest width, narrow ones followed by zeros."""
        kernels = [
            tf.pad(tf.convert_to_tensor(kernel)[0], [[0, self._widest - width], [0, 0], [0, 0]])
            for kernel, (width, _) in zip(self.kernels, self.filters, strict=True)
        ]
        kernel = tf.concat(kernels, axis=2)
        return tf.reshape(kernel, [self._widest * self.char_dim, -1])

    def _features(self, char_ids, kernel, bound):
        """Features of words of which each only repeats its last id from `bound` on, at the most."""
        characters = char_ids.shape[1]
        starts = self._starts(char_ids, bound)
        at_end = bound + self._widest > characters
        beyond = self._beyond_the_end(starts, characters) if at_end else tf.zeros((0, 0))
        table = tf.pad(tf.convert_to_tensor(self.char_embed), [[1, 0], [0, 0]])
        bias = tf.concat([tf.convert_to_tensor(bias) for bias in self.biases], axis=0)
        run = _convolution(self.activation, product_dtype(self), at_end)
        return tf.ensure_shape(
            run(char_ids, starts, table, kernel, bias, beyond), (None, bias.shape[0])
        )

    def _starts(self, char_ids, bound):
        """How many windows a word has that can differ; the last is all padding, if there is one."""
        characters = char_ids.shape[1]
        if bound < characters:
            return tf.constant(bound + 1)
        used = tf.reduce_any(char_ids != char_ids[:, -1:], axis=0)
        starts = tf.reduce_max(tf.where(used, tf.range(characters) + 1, 0)) + 1
        return tf.minimum(starts + -starts % 8, characters)

    def _beyond_the_end(self, starts, characters):
        """What keeps each filter from windows that end after the last id: 0 or the least float."""
        widths = tf.repeat(*zip(*self.filters, strict=True))
        return tf.where(tf.range(starts)[:, tf.newaxis] + widths > characters, tf.float32.min, 0.0)

    def compute_output_shape(self, input_shape):
        return (input_shape[0], sum(count for _, count in self.filters))


@functools.cache
def _convolution(activation, dtype, at_end):
    """The convolution of words of like length as a graph that all groups and layers share.

    `beyond` is what to add to the products where windows reach the end.
    """

    def convolve(char_ids, starts, table, kernel, bias, beyond):
        widest = tf.shape(kernel)[0] // tf.shape(table)[1]
        # Padded also because TensorFlow's maximum over no word at all has no gradient.
        ids = tf.pad(pad_rows(char_ids), [[0, 0], [0, widest - 1]])
        places = tf.range(starts)[:, tf.newaxis] + tf.range(widest)
        # In two axes, for a product with three has a slow gradient.
        rows = tf.reshape(
            tf.gather(table, tf.gather(ids, places, axis=1)), [-1, tf.shape(kernel)[0]]
        )
        products = matmul(rows, kernel, dtype)
        products = tf.reshape(products, [-1, starts, tf.shape(kernel)[1]])
        if at_end:
            products += beyond
        largest = tf.nn.bias_add(tf.reduce_max(products, axis=1), bias)
        return keras.activations.get(activation)(largest)[: tf.shape(char_ids)[0]]

    matrix, vector = tf.TensorSpec((None, None)), tf.TensorSpec((None,))
    ids, number = tf.TensorSpec((None, None), tf.int32), tf.TensorSpec((), tf.int32)
    return traced_once(convolve, ids, number, matrix, matrix, vector, matrix)
