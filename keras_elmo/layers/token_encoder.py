"""The token encoder: characters of a word to one vector that knows no context."""

import tensorflow as tf

from keras_elmo.layers.char_cnn import CharCNN
from keras_elmo.layers.fast.row_counts import pad_rows
from keras_elmo.layers.freezable import FreezableLayer
from keras_elmo.layers.highway import Highway
from keras_elmo.layers.precision import affine, product_dtype


class TokenEncoder(FreezableLayer):
    """CharCNN, then `n_highway` highway layers, then `x W_proj + b_proj`.

    Peters et al. 2018, section 3.4. The one definition of the token vector, shared by both
    directions, by pretraining and by inference. int32 `(words, characters)` -> float32
    `(words, projection_dim)`; arguments as of `CharCNN`, and the number of highway layers.
    """

    def __init__(
        self,
        projection_dim,
        filters,
        n_characters,
        char_dim=16,
        n_highway=1,
        activation="relu",
        frozen=False,
        **kwargs,
    ):
        super().__init__(frozen=frozen, **kwargs)
        self.projection_dim = projection_dim
        self.filters = tuple((int(width), int(count)) for width, count in filters)
        self.n_characters = n_characters
        self.char_dim = char_dim
        self.n_highway = n_highway
        self.activation = activation
        self.char_cnn = CharCNN(
            filters,
            n_characters,
            char_dim,
            activation,
            frozen=frozen,
            dtype=self.dtype_policy,
            name="char_cnn",
        )
        self.highways = [
            Highway(frozen=frozen, dtype=self.dtype_policy, name=f"highway_{k}")
            for k in range(n_highway)
        ]

    def build(self, input_shape=None):
        features = sum(count for _, count in self.filters)
        self.char_cnn.build()
        for highway in self.highways:
            highway.build((None, features))
        self.W_proj = self.add_bilm_weight("W_proj", (features, self.projection_dim))
        self.b_proj = self.add_bilm_weight("b_proj", (self.projection_dim,), "zeros")

    def call(self, char_ids):
        x = pad_rows(self.char_cnn(char_ids))
        for highway in self.highways:
            x = highway(x)
        vectors = affine(x, self.W_proj, self.b_proj, product_dtype(self))
        return vectors[: tf.shape(char_ids)[0]]

    def compute_output_shape(self, input_shape):
        return (input_shape[0], self.projection_dim)
