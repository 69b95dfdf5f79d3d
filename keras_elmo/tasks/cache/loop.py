"""Keras' training loop of a model, with graphs of its own."""

import keras
import tensorflow as tf

from keras_elmo.basics.keras_internals import StartsWithEpochOfModel


class Loop(StartsWithEpochOfModel, keras.Model):
    """`fit`, `evaluate` and `predict` as Keras' own of a model, traced within a context.

    Weights, optimizer, losses, metrics and steps are the model's, and callbacks see the model. The
    graphs are this object's, so that those of the model stay as they are. `context` gives a context
    manager, in which the model's steps run and are traced.
    """

    def __init__(self, model, context):
        self.__dict__["model"] = model
        with model.distribute_strategy.scope():
            super().__init__()
            if model.compiled:
                # The losses and metrics stand in the model's steps: here they are not needed.
                self.compile(
                    model.optimizer, run_eagerly=model.run_eagerly, auto_scale_loss=False,
                    steps_per_execution=model.steps_per_execution, jit_compile=False,
                )  # fmt: skip
        self.model = model
        self.context = context

    @property
    def metrics(self):
        return self.model.metrics

    @property
    def stop_training(self):
        return self.model.stop_training

    @stop_training.setter
    def stop_training(self, value):
        self.model.stop_training = value

    @property
    def history(self):
        return self.model.history

    def call(self, inputs, training=None):
        with self.context():
            return self.model(inputs, training=training)

    def train_step(self, data):
        with self.context():
            return self.model.train_step(data)

    def test_step(self, data):
        with self.context():
            return self.model.test_step(data)

    def predict_step(self, data):
        with self.context():
            return self.model.predict_step(data)

    def fit(
        self, x=None, y=None, batch_size=None, epochs=1, verbose="auto", callbacks=None, **kwargs
    ):
        if not isinstance(callbacks, keras.callbacks.CallbackList):
            callbacks = keras.callbacks.CallbackList(
                callbacks, add_history=True, add_progbar=verbose != 0, model=self.model,
                verbose=verbose, epochs=epochs,
                steps=kwargs.get("steps_per_epoch") or _number_of_batches(x, batch_size or 32),
            )  # fmt: skip
        return super().fit(x, y, batch_size, epochs, verbose, callbacks, **kwargs)


def _number_of_batches(x, batch_size):
    """The steps of an epoch, for the progress bar; None where they are not known."""
    if isinstance(x, tf.data.Dataset):
        return max(int(x.cardinality()), 0) or None
    if isinstance(x, keras.utils.PyDataset):
        return x.num_batches
    x = keras.tree.flatten(x)[0]
    return -(-int(x.shape[0]) // batch_size) if hasattr(x, "shape") else None
