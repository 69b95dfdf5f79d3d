"""Numbers of rows that repeat from batch to batch."""

import math

import tensorflow as tf


def pad_rows(x):
    """Append rows of zeros, up to one of 32 numbers between a power of two and the next.

    oneDNN, which runs TensorFlow's products and convolutions on CPUs, compiles a kernel for each
    new shape, and that can take longer than the kernel runs. Hardly two batches have the same
    number of distinct words; so rounded up, they share kernels.
    """
    rows = tf.maximum(1, tf.shape(x)[0])
    octave = tf.cast(tf.math.log(tf.cast(rows, tf.float32)) / math.log(2), tf.int32)
    step = tf.bitwise.left_shift(1, tf.maximum(0, octave - 5))
    missing = rows + (-rows) % step - tf.shape(x)[0]
    return tf.pad(x, tf.pad([[0, missing]], [[0, tf.rank(x) - 1], [0, 0]]))
