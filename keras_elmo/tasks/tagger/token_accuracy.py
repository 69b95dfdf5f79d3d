"""`TokenAccuracy`: the share of tokens with the right label."""

import keras
import tensorflow as tf

from keras_elmo.basics.keras_internals import mask_of


@keras.saving.register_keras_serializable(package="keras_elmo")
class TokenAccuracy(keras.metrics.Mean):
    """The share of tokens whose most probable class is the right one; padding never counts.

    Which positions are tokens is told by the Keras mask of the predictions; without one, all are.

    Call arguments:
        y_true: int (batch, time), class numbers; anything at padding.
        y_pred: float (batch, time, n_classes).
        sample_weight: float (batch, time) or (batch, 1), or None.
    """

    def __init__(self, name="accuracy", **kwargs):
        super().__init__(name=name, **kwargs)

    def update_state(self, y_true, y_pred, sample_weight=None):
        right = tf.equal(tf.argmax(y_pred, -1, tf.int64), tf.cast(y_true, tf.int64))
        weights = tf.ones(tf.shape(right))
        mask = mask_of(y_pred)
        if mask is not None:
            weights = tf.cast(mask, tf.float32)
        if sample_weight is not None:
            weights *= tf.cast(sample_weight, tf.float32)
        # Keras would first take the mean over each row's positions, however many are tokens.
        right = tf.reshape(tf.cast(right, tf.float32), [-1])
        return super().update_state(right, tf.reshape(weights, [-1]))
