"""The highway layer of the token encoder."""

import keras
import tensorflow as tf

from keras_elmo.layers.freezable import FreezableLayer
from keras_elmo.layers.precision import affine, product_dtype


class Highway(FreezableLayer):
    """`y = g relu(x W_transform + b_transform) + (1 - g) x`, `g = sigmoid(x W_carry + b_carry)`.

    The published files call the gate on the transformed side "carry". Srivastava et al. 2015.
    float `(words, features)` -> float32 of the same shape.

    Source: `allenai/bilm-tf`, `high` in `_build_word_char_embeddings`.
    """

    def build(self, input_shape):
        size = input_shape[-1]
        self.W_carry = self.add_bilm_weight("W_carry", (size, size))
        self.b_carry = self.add_bilm_weight("b_carry", (size,), keras.initializers.Constant(-2.0))
        self.W_transform = self.add_bilm_weight("W_transform", (size, size))
        self.b_transform = self.add_bilm_weight("b_transform", (size,), "zeros")

    def call(self, x):
        dtype = product_dtype(self)
        gate = tf.sigmoid(affine(x, self.W_carry, self.b_carry, dtype))
        transformed = tf.nn.relu(affine(x, self.W_transform, self.b_transform, dtype))
        return x + gate * (transformed - x)

    def compute_output_shape(self, input_shape):
        return tuple(input_shape)
