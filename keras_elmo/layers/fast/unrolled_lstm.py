"""The projected LSTM over one training window, unrolled, with its gradient written out."""

from typing import NamedTuple

import tensorflow as tf

from keras_elmo.layers.precision import affine, matmul


class Step(NamedTuple):
    """What the gradient of one position needs: inputs and outputs of its products, and its gates.

    Attributes:
        xm: `[x_t, m]`, `(batch, input_dim + projection_dim)`, in the products' dtype.
        old_c, new_c: the cell before and after, float32 `(batch, lstm_dim)`.
        gates: sigmoid(i), tanh(j), sigmoid(f + 1) or 0 where the state is set to zero, sigmoid(o),
            each float32 `(batch, lstm_dim)`.
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
        gates = list(zip(tf.split(kernel, 4, axis=1), _gate_biases(B), strict=True))
        keeps = tf.unstack(kept)
        steps, outputs = [], []
        for x_t, keep in zip(tf.unstack(tf.cast(x, dtype)), keeps, strict=True):
            step = _step(x_t, c, m * keep, keep, gates, projection, clips[0])
            c, m = step.new_c, clip(step.projected, clips[1])
            steps.append(step)
            outputs.append(m)

        def gradient(d_outputs, d_c, d_m):
            return _gradient(steps, keeps, kernel, projection, clips, d_outputs, d_c, d_m)

        return (tf.stack(outputs), c, m), gradient

    outputs, c, m = run(x, kept, *weights, *state)
    return outputs, (c, m)


def _gate_biases(bias):
    i, j, f, o = tf.split(bias, 4)
    return i, j, f + 1.0, o


def _step(x, c, m, keep, gates, projection, cell_clip):
    dtype = projection.dtype
    xm = tf.concat([x, tf.cast(m, dtype)], axis=1)
    # A product a gate, with bias and function right behind it: TensorFlow makes one kernel of them.
    i, j, f, o = (affine(xm, kernel, bias, dtype) for kernel, bias in gates)
    i, j, f, o = tf.sigmoid(i), tf.tanh(j), keep * tf.sigmoid(f), tf.sigmoid(o)
    new_c = clip(f * c + i * j, cell_clip)
    tanh_c = tf.tanh(new_c)
    hidden = tf.cast(o * tanh_c, dtype)
    return Step(xm, c, new_c, (i, j, f, o), tanh_c, hidden, matmul(hidden, projection, dtype))


def _gradient(steps, keeps, kernel, projection, clips, d_outputs, d_c, d_m):
    """Gradients of `run`'s arguments, from the last position to the first."""
    kernel_T, projection_T = _transposed(kernel), _transposed(projection)
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
        d_m = d_xm[:, input_dim:] * keep
    d_gates = tf.concat(d_gates[::-1], axis=0)
    d_projected = tf.concat(d_projected[::-1], axis=0)
    return (
        tf.stack(d_x[::-1]),
        None,
        _outer([step.xm for step in steps], d_gates),
        _column_sums(d_gates),
        _outer([step.hidden for step in steps], d_projected),
        d_c,
        d_m,
    )


def _cell_gradient(step, d_hidden, d_c, cell_clip):
    """Gradients of the gates before their functions, and of the cell before this position."""
    i, j, f, o = step.gates
    through_tanh = tf.raw_ops.TanhGrad(y=step.tanh_c, dy=d_hidden * o)
    d_c = _through_clip(d_c + through_tanh, step.new_c, cell_clip)
    d_z = [
        tf.raw_ops.SigmoidGrad(y=i, dy=d_c * j),
        tf.raw_ops.TanhGrad(y=j, dy=d_c * i),
        tf.raw_ops.SigmoidGrad(y=f, dy=d_c * step.old_c),
        tf.raw_ops.SigmoidGrad(y=o, dy=d_hidden * step.tanh_c),
    ]
    return tf.concat(d_z, axis=1), d_c * f


def _transposed(matrix):
    """The transpose, written out once.

    Products of a batch's few rows with `transpose_b` are twice as slow in float32, and graph
    optimisation turns a bare `tf.transpose` before a product into just that.
    """
    return tf.ensure_shape(tf.transpose(matrix), matrix.shape[::-1])


def _column_sums(matrix):
    """Sums over rows, float32, as a product, which is faster than a reduction."""
    ones = tf.ones((1, tf.shape(matrix)[0]))
    return tf.matmul(ones, tf.cast(matrix, tf.float32))[0]


def _outer(factors, gradients):
    """`factors^T gradients`, summed over all positions and rows, float32."""
    product = tf.matmul(tf.concat(factors, axis=0), gradients, transpose_a=True)
    return tf.cast(product, tf.float32)


def clip(x, bound):
    """Bound the values of `x` to `+-bound`; None bounds nothing."""
    return x if bound is None else tf.clip_by_value(x, -bound, bound)


def _through_clip(gradient, x, bound):
    """The gradient of a clip; `x` may be the value before the clip or after it."""
    if bound is None:
        return gradient
    return tf.raw_ops.ReluGrad(gradients=gradient, features=bound - tf.abs(x))
