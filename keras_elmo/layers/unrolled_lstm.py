"""The projected LSTM over one training window, unrolled, with its gradient written out."""

from typing import NamedTuple

import tensorflow as tf

from keras_elmo.layers.precision import matmul


class Step(NamedTuple):
    """What the gradient of one position needs: inputs and outputs of its products, and its gates.

    Attributes:
        xm: `[x_t, m]`, `(batch, input_dim + projection_dim)`, in the products' dtype.
        old_c, new_c: the cell before and after, float32 `(batch, lstm_dim)`.
        gates: sigmoid(i), tanh(j), sigmoid(f + 1), sigmoid(o), each float32 `(batch, lstm_dim)`.
        tanh_c: tanh(new_c).
        hidden: sigmoid(o) * tanh(new_c), in the products' dtype.
        projected: hidden W_P before its clip, float32 `(batch, projection_dim)`.
    """

    xm: tf.Tensor
    old_c: tf.Tensor
    new_c: tf.Tensor
    gates: tuple
    tanh_c: tf.Tensor
    hidden: tf.Tensor
    projected: tf.Tensor


def unrolled_lstm(x, kept, weights, state, clips, dtype):
    """Run the cell of `ProjectedLSTM` over a window, with one weight gradient a window.

    Automatic differentiation would add up a weight gradient of full size at each position. Here
    the positions' factors are kept and multiplied once: `dW = [x, m]^T dz` over all of them.

    Args:
        x: float32 `(time, batch, input_dim)`, static time.
        kept: float32 `(time, batch, 1)`, 0 where the state is set to zero before a position.
        weights: `(W_0, B, W_P_0)`, float32 tensors.
        state: `(c, m)`, float32.
        clips: `(cell_clip, proj_clip)`, floats or None.
        dtype: name of the products' dtype; states, gates and sums are float32.

    Returns:
        `(outputs, (c, m))`, outputs float32 `(time, batch, projection_dim)`.
    """

    @tf.custom_gradient
    def run(x, kept, W_0, B, W_P_0, c, m):
        kernel, projection = tf.cast(W_0, dtype), tf.cast(W_P_0, dtype)
        keeps = tf.unstack(kept)
        steps, outputs = [], []
        for x_t, keep in zip(tf.unstack(tf.cast(x, dtype)), keeps, strict=True):
            step = _step(x_t, c * keep, m * keep, kernel, B, projection, clips[0])
            c, m = step.new_c, clip(step.projected, clips[1])
            steps.append(step)
            outputs.append(m)

        def gradient(d_outputs, d_c, d_m):
            return _gradient(steps, keeps, kernel, projection, clips, d_outputs, d_c, d_m)

        return (tf.stack(outputs), c, m), gradient

    outputs, c, m = run(x, kept, *weights, *state)
    return outputs, (c, m)


def _step(x, c, m, kernel, bias, projection, cell_clip):
    xm = tf.concat([x, tf.cast(m, kernel.dtype)], axis=1)
    i, j, f, o = tf.split(matmul(xm, kernel, kernel.dtype) + bias, 4, axis=1)
    gates = tf.sigmoid(i), tf.tanh(j), tf.sigmoid(f + 1.0), tf.sigmoid(o)
    new_c = clip(gates[2] * c + gates[0] * gates[1], cell_clip)
    tanh_c = tf.tanh(new_c)
    hidden = tf.cast(gates[3] * tanh_c, kernel.dtype)
    return Step(xm, c, new_c, gates, tanh_c, hidden, matmul(hidden, projection, kernel.dtype))


def _gradient(steps, keeps, kernel, projection, clips, d_outputs, d_c, d_m):
    """Gradients of `run`'s arguments, from the last position to the first."""
    # Transposed once: products with `transpose_b` are several times slower in float32.
    kernel_T, projection_T = tf.transpose(kernel), tf.transpose(projection)
    input_dim = kernel.shape[0] - projection.shape[1]
    d_gates, d_projected, d_x = [], [], []
    for step, keep, d_output in zip(
        reversed(steps), reversed(keeps), reversed(tf.unstack(d_outputs)), strict=True
    ):
        d_m = tf.cast(_through_clip(d_output + d_m, step.projected, clips[1]), kernel.dtype)
        d_projected.append(d_m)
        d_hidden = matmul(d_m, projection_T, kernel.dtype)
        d_z, d_c = _cell_gradient(step, d_hidden, d_c, clips[0])
        d_gates.append(tf.cast(d_z, kernel.dtype))
        d_xm = matmul(d_gates[-1], kernel_T, kernel.dtype)
        d_x.append(d_xm[:, :input_dim])
        d_c, d_m = d_c * keep, d_xm[:, input_dim:] * keep
    d_gates = tf.concat(d_gates[::-1], axis=0)
    d_projected = tf.concat(d_projected[::-1], axis=0)
    return (
        tf.stack(d_x[::-1]),
        None,
        _outer([step.xm for step in steps], d_gates),
        tf.reduce_sum(tf.cast(d_gates, tf.float32), axis=0),
        _outer([step.hidden for step in steps], d_projected),
        d_c,
        d_m,
    )


def _cell_gradient(step, d_hidden, d_c, cell_clip):
    """Gradients of the gates before their functions, and of the cell before this position."""
    i, j, f, o = step.gates
    through_o = d_hidden * o
    d_c = _through_clip(d_c + through_o * (1.0 - tf.square(step.tanh_c)), step.new_c, cell_clip)
    d_i, d_f = d_c * i, d_c * f
    d_z = [
        d_i * step.gates[1] * (1.0 - i),
        d_i * (1.0 - tf.square(j)),
        d_f * step.old_c * (1.0 - f),
        through_o * step.tanh_c * (1.0 - o),
    ]
    return tf.concat(d_z, axis=1), d_f


def _outer(factors, gradients):
    """`factors^T gradients`, summed over all positions and rows, float32."""
    product = tf.matmul(tf.concat(factors, axis=0), gradients, transpose_a=True)
    return tf.cast(product, tf.float32)


def clip(x, bound):
    """Bound the values of `x` to `+-bound`; None bounds nothing."""
    return x if bound is None else tf.clip_by_value(x, -bound, bound)


def _through_clip(gradient, x, bound):
    """The gradient of a clip; `x` may be the value before the clip or after it."""
    return gradient if bound is None else tf.where(tf.abs(x) < bound, gradient, 0.0)
