"""Products in a layer's compute dtype with results in float32."""

import tensorflow as tf


def matmul(x, kernel, compute_dtype):
    """`x @ kernel` with both operands in `compute_dtype`, the result in float32."""
    product = tf.matmul(tf.cast(x, compute_dtype), tf.cast(kernel, compute_dtype))
    return tf.cast(product, tf.float32)


def affine(x, kernel, bias, compute_dtype):
    """`x @ kernel + bias`, the product as in `matmul`, the sum and the result in float32.

    `tf.nn.bias_add` is one kernel with the product before it, and its gradient is several times
    faster than that of a broadcast sum.
    """
    return tf.nn.bias_add(matmul(x, kernel, compute_dtype), bias)


def product_dtype(layer):
    """The dtype of a layer's products: its compute dtype where that is half, else float32."""
    return layer.compute_dtype if layer.compute_dtype in ("bfloat16", "float16") else "float32"
