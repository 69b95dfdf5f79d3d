"""`DenseHead`: a hidden layer and the probabilities of the classes."""

import keras


class DenseHead(keras.Layer):
    """`softmax(W_2 relu(W_1 x + b_1) + b_2)`, or sigmoid for two classes.

    Args:
        n_classes: int, at least 2.
        hidden_units: int, width of the hidden layer.
        dropout: float in [0, 1), dropped from the hidden layer in training.

    Call arguments:
        x: float (batch, dim).

    Returns:
        Float32 probabilities, (batch, 1), of the second class, for two classes; otherwise
        (batch, n_classes).
    """

    def __init__(self, n_classes, hidden_units, dropout, **kwargs):
        super().__init__(**kwargs)
        policy = self.dtype_policy
        self.hidden = keras.layers.Dense(hidden_units, "relu", dtype=policy, name="hidden")
        self.drop = keras.layers.Dropout(dropout, dtype=policy, name="dropout")
        self.units, activation = (1, "sigmoid") if n_classes == 2 else (n_classes, "softmax")
        self.last = keras.layers.Dense(self.units, activation, dtype="float32", name="last")

    def build(self, input_shape):
        self.hidden.build(input_shape)
        self.last.build((None, self.hidden.units))

    def call(self, x, training=None):
        return self.last(self.drop(self.hidden(x), training=training))

    def compute_output_shape(self, input_shape):
        return (input_shape[0], self.units)
