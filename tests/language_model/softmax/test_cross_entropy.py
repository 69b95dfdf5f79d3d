"""The softmax loss is that of TensorFlow, gradient included."""

import numpy as np
import tensorflow as tf

from keras_elmo.language_model.softmax.cross_entropy import cross_entropy


def loss_and_gradient(function, logits, weights):
    logits = tf.constant(logits)
    with tf.GradientTape() as tape:
        tape.watch(logits)
        loss = function(logits)
        total = tf.reduce_sum(loss * weights)
    return loss, tape.gradient(total, logits)


def test_loss_and_gradient_are_those_of_tensorflow():
    rng = np.random.default_rng(1)
    logits = rng.normal(scale=30.0, size=(7, 5)).astype("float32")
    logits[2, 1] = np.finfo("float32").min
    targets = np.array([0, 4, 2, 2, 1, 3, 0], np.int32)
    weights = rng.normal(size=7).astype("float32")
    found = loss_and_gradient(lambda x: cross_entropy(x, targets), logits, weights)
    expected = loss_and_gradient(
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(targets, x), logits, weights
    )
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_no_rows():
    assert cross_entropy(tf.zeros((0, 3)), tf.zeros((0,), tf.int32)).shape == (0,)
