"""`CharacterNGrams`: which runs of characters a text has, as a sparse vector of length 1."""

import keras
import numpy as np
import tensorflow as tf

from keras_elmo.basics.keras_internals import take_any_inputs

BUCKETS = 1 << 18
WIDTHS = (1, 2, 3, 4, 5)


@keras.saving.register_keras_serializable(package="keras_elmo")
class CharacterNGrams(keras.Layer):
    """TF-IDF of the 1- to 5-grams of a text's characters, `v / |v|`.

    With `c` the count of an n-gram in the text, and `d` the number of the `n` texts of `adapt` that
    have it: `v = (1 + ln c) (1 + ln((1 + n) / (1 + d)))`, and 0 where `d = 0`. The text is its
    tokens with a space between two. Letters count as lower case and every digit as 0. The feature
    of an n-gram is its hash modulo 262,144, so there is no vocabulary and no table. A text that
    shares no n-gram with those of `adapt` is 0.

    Call arguments:
        tokens: RaggedTensor string (batch, None).

    Returns:
        SparseTensor float32 (batch, 262144), rows of length 1 or 0.

    Example:

    >>> layer = CharacterNGrams()
    >>> layer.adapt([tf.ragged.constant([["call", "now"], ["ok"]])])
    >>> vectors = layer(tf.ragged.constant([["OK"]]))
    >>> round(float(tf.reduce_sum(vectors.values**2)), 5)
    1.0
    """

    def __init__(self, **kwargs):
        super().__init__(autocast=False, **kwargs)
        take_any_inputs(self)

    def build(self, input_shape=None):
        self.idf = self.add_weight(
            name="idf",
            shape=(BUCKETS,),
            dtype="float32",
            initializer="zeros",
            trainable=False,
            autocast=False,
        )

    @property
    def adapted(self):
        """Whether the document frequencies were set from data."""
        return bool(self.built and np.any(self.idf.numpy()))

    def adapt(self, batches):
        """Sets the inverse document frequencies from batches of tokens, string (rows, None)."""
        n, frequencies = 0, np.zeros(BUCKETS)
        for tokens in batches:
            n += int(tokens.nrows())
            _, buckets, _ = _counted(tokens)
            np.add.at(frequencies, buckets.numpy(), 1)
        if not self.built:
            self.build()
        idf = 1 + np.log((1 + n) / (1 + frequencies))
        self.idf.assign(np.where(frequencies > 0, idf, 0))

    def call(self, tokens):
        rows, buckets, counts = _counted(tokens)
        values = (1 + tf.math.log(tf.cast(counts, tf.float32))) * tf.gather(self.idf, buckets)
        n_rows = tokens.nrows(tf.int64)
        squares = tf.math.unsorted_segment_sum(values**2, rows, n_rows)
        values *= tf.gather(tf.where(squares > 0, tf.math.rsqrt(squares), 0.0), rows)
        indices = tf.stack([rows, buckets], axis=1)
        return tf.SparseTensor(indices, values, tf.stack([n_rows, BUCKETS]))

    def compute_output_shape(self, input_shape):
        return (input_shape[0], BUCKETS)


def _counted(tokens):
    """Row, bucket and count of every distinct n-gram of a row: int64, int64 and int32 (n,).

    In the order of rows and of first occurrence in a row.
    """
    text = tf.strings.reduce_join(tokens, axis=1, separator=" ")
    text = tf.strings.regex_replace(tf.strings.lower(text, encoding="utf-8"), r"\p{Nd}", "0")
    grams = tf.strings.ngrams(tf.strings.unicode_split(text, "UTF-8"), WIDTHS, separator="")
    buckets = tf.strings.to_hash_bucket_fast(grams.flat_values, BUCKETS)
    distinct, _, counts = tf.unique_with_counts(grams.value_rowids() * BUCKETS + buckets)
    return distinct // BUCKETS, distinct % BUCKETS, counts
