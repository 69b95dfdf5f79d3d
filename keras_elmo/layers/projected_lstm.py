"""One LSTM layer of one direction, with projection and clips."""

import tensorflow as tf

from keras_elmo.layers.fast.unrolled_lstm import clip, unrolled_lstm
from keras_elmo.layers.freezable import FreezableLayer
from keras_elmo.layers.precision import affine, matmul, product_dtype


class ProjectedLSTM(FreezableLayer):
    """LSTM whose output is projected and fed back; cell and projection are clipped in value.

    With `[i, j, f, o] = [x_t, m] W_0 + B`:
    `c = clip(sigmoid(f + 1) * c + sigmoid(i) * tanh(j), +-cell_clip)`,
    `m = clip((sigmoid(o) * tanh(c)) W_P_0, +-proj_clip)`. Sak et al. 2014, Peters et al. 2018.

    A row's state stands still beyond its length, and its outputs there are 0. The state is an
    argument and a result; the layer keeps none.

    Call arguments:
        x: float `(batch, time, input_dim)`.
        lengths: int32 `(batch,)`, or None where every position is valid.
        initial_state: pair `(c, m)` of float32 `(batch, lstm_dim)` and `(batch, projection_dim)`,
            or None for zeros.
        resets: bool `(batch, time)` of a training window, static time, instead of `lengths`: the
            state is set to zero before these positions. The window is unrolled, which trains
            faster than the loop.

    Returns:
        `(outputs, (c, m))`, outputs float32 `(batch, time, projection_dim)`.

    Source: the cell of `allenai/bilm-tf` (`tf.nn.rnn_cell.LSTMCell` with `num_proj`).
    """

    def __init__(
        self,
        lstm_dim,
        projection_dim,
        cell_clip=None,
        proj_clip=None,
        frozen=False,
        **kwargs,
    ):
        super().__init__(frozen=frozen, **kwargs)
        self.lstm_dim = lstm_dim
        self.projection_dim = projection_dim
        self.cell_clip = cell_clip
        self.proj_clip = proj_clip

    def build(self, input_shape):
        self.input_dim = input_shape[-1]
        rows = self.input_dim + self.projection_dim
        self.W_0 = self.add_bilm_weight("W_0", (rows, 4 * self.lstm_dim))
        self.B = self.add_bilm_weight("B", (4 * self.lstm_dim,), "zeros")
        self.W_P_0 = self.add_bilm_weight("W_P_0", (self.lstm_dim, self.projection_dim))

    def call(self, x, lengths=None, initial_state=None, resets=None):
        state = self.zero_state(tf.shape(x)[0]) if initial_state is None else initial_state
        if resets is None:
            outputs, state = _run_loop(self._make_step(lengths), self._input_gates(x), state)
        else:
            outputs, state = self._run_window(x, resets, state)
        return tf.transpose(outputs, [1, 0, 2]), state

    def zero_state(self, batch_size):
        """The state before a sentence: zeros `(batch, lstm_dim)` and `(batch, projection_dim)`."""
        return tf.zeros((batch_size, self.lstm_dim)), tf.zeros((batch_size, self.projection_dim))

    def _run_window(self, x, resets, state):
        return unrolled_lstm(
            tf.transpose(x, [1, 0, 2]),
            tf.transpose(tf.cast(~resets, tf.float32))[..., tf.newaxis],
            [tf.convert_to_tensor(weight) for weight in (self.W_0, self.B, self.W_P_0)],
            state,
            (self.cell_clip, self.proj_clip),
            product_dtype(self),
        )

    def _input_gates(self, x):
        """The input's share of the gates for all positions at once, `(time, batch, 4 * dim)`."""
        kernel = tf.convert_to_tensor(self.W_0)[: self.input_dim]
        return affine(tf.transpose(x, [1, 0, 2]), kernel, self.B, product_dtype(self))

    def _make_step(self, lengths):
        dtype = product_dtype(self)
        recurrent = tf.cast(tf.convert_to_tensor(self.W_0)[self.input_dim :], dtype)
        projection = tf.cast(tf.convert_to_tensor(self.W_P_0), dtype)

        def step(time, input_gates, c, m):
            gates = input_gates + matmul(m, recurrent, dtype)
            new_c, new_m = cell(gates, c, projection, self.cell_clip, self.proj_clip)
            if lengths is None:
                return new_m, new_c, new_m
            valid = (time < lengths)[:, tf.newaxis]
            return (
                tf.where(valid, new_m, 0.0),
                tf.where(valid, new_c, c),
                tf.where(valid, new_m, m),
            )

        return step


def cell(gates, c, projection, cell_clip, proj_clip):
    """The new `(c, m)`, by the formula behind its first product; gates `(rows, 4 * lstm_dim)`.

    `projection` is W_P_0 in the products' dtype; all else is float32.
    """
    i, j, f, o = tf.split(gates, 4, axis=1)
    c = clip(tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(j), cell_clip)
    m = matmul(tf.sigmoid(o) * tf.tanh(c), projection, projection.dtype)
    return c, clip(m, proj_clip)


def _run_loop(step, input_gates, state):
    steps = tf.shape(input_gates)[0]

    def body(time, outputs, c, m):
        output, c, m = step(time, input_gates[time], c, m)
        return time + 1, outputs.write(time, output), c, m

    # One element at least: TensorFlow cannot stack none without knowing the batch size.
    outputs = tf.TensorArray(
        tf.float32, size=tf.maximum(steps, 1), element_shape=state[1].shape
    ).write(0, tf.zeros_like(state[1]))
    _, outputs, c, m = tf.while_loop(
        lambda time, *_: time < steps,
        body,
        (tf.constant(0), outputs, *state),
        maximum_iterations=steps,
    )
    return outputs.stack()[:steps], (c, m)
