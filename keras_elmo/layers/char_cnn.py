"""The character convolution of the token encoder."""

import keras
import tensorflow as tf

from keras_elmo.layers.freezable import FreezableLayer
from keras_elmo.layers.precision import product_dtype

LENGTHS = (8, 12, 20)  # bytes with the word's marks; most English words have at most 8


@keras.saving.register_keras_serializable(package="keras_elmo")
class CharCNN(FreezableLayer):
    """Character ids to features: `concat_k act(max_position(conv_k(embed(ids)) + b_k))`.

    Each convolution runs over the character positions with valid padding; the activation comes
    after the maximum. Peters et al. 2018, section 3.4 (after Kim et al. 2015).

    Id 0 ("no character") embeds to the zero vector and has no weight. Words of like length are
    convolved together, and where all of them only repeat their last id, columns beyond the widest
    filter are not computed: each window there equals one that is.

    Args:
        filters: sequence of `(width, count)` pairs, in file order.
        n_characters: int, number of ids above 0.
        char_dim: int, size of a character vector.
        activation: `"relu"` or `"tanh"`.
        frozen: bool, whether the weights are created non-trainable.

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
        features = [self._features(tf.gather(char_ids, rows)) for rows in groups]
        return tf.dynamic_stitch(groups, features)

    def _rows_by_length(self, char_ids):
        """The rows of short words, of longer ones, and so on."""
        lengths = tf.reduce_sum(tf.cast(char_ids != char_ids[:, -1:], tf.int32), axis=1)
        group = tf.searchsorted(LENGTHS, lengths)
        return tf.dynamic_partition(tf.range(tf.shape(char_ids)[0]), group, len(LENGTHS) + 1)

    def _features(self, char_ids):
        words = tf.shape(char_ids)[0]
        # One word at least: TensorFlow's convolution of none has the wrong shape.
        char_ids = tf.pad(char_ids, [[0, tf.cast(words == 0, tf.int32)], [0, 0]])
        ids = char_ids[:, : self._columns_that_differ(char_ids)]
        table = tf.pad(tf.convert_to_tensor(self.char_embed), [[1, 0], [0, 0]])
        characters = tf.cast(tf.gather(table, ids), product_dtype(self))
        activate = keras.activations.get(self.activation)
        features = []
        for kernel, bias in zip(self.kernels, self.biases, strict=True):
            kernel = tf.cast(tf.convert_to_tensor(kernel)[0], characters.dtype)
            windows = tf.nn.conv1d(characters, kernel, stride=1, padding="VALID")
            features.append(activate(tf.cast(tf.reduce_max(windows, axis=1), tf.float32) + bias))
        return tf.concat(features, axis=-1)[:words]

    def _columns_that_differ(self, char_ids):
        widest = max(width for width, _ in self.filters)
        used = tf.reduce_any(char_ids != char_ids[:, -1:], axis=0)
        last = tf.reduce_max(tf.where(used, tf.range(tf.shape(char_ids)[1]) + 1, 0))
        return tf.minimum(tf.shape(char_ids)[1], last + widest)

    def compute_output_shape(self, input_shape):
        return (input_shape[0], sum(count for _, count in self.filters))

    def get_config(self):
        config = super().get_config()
        config.update(
            filters=[list(pair) for pair in self.filters],
            n_characters=self.n_characters,
            char_dim=self.char_dim,
            activation=self.activation,
        )
        return config
