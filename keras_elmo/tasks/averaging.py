"""`WeightAveraging`: a moving average of weights, in use wherever weights are looked at."""

import keras


class WeightAveraging(keras.callbacks.Callback):
    """Averages trainable weights over steps: `a_t = (1 - m) / (1 - m^t) * sum_i m^(t-i) w_i`.

    Training goes on with the raw weights. Validation, the callbacks that run after this one at the
    end of an epoch (checkpoints, early stopping), and the model that `fit` leaves have the average,
    so that a validation result is that of the weights it stands beside. The sum is corrected for
    its start: after few steps too it is an average of trained weights. Polyak and Juditsky 1992.
    Keras' `SwapEMAWeights` would leave the raw weights where a callback stops the training.

    Args:
        momentum: in [0, 1), how much of the average a step keeps.
    """

    def __init__(self, momentum: float = 0.9):
        super().__init__()
        self.momentum = momentum
        self._sums = None
        self._total = 0.0
        self._raw = None

    def on_train_begin(self, logs=None):
        self._sums, self._total, self._raw = None, 0.0, None

    def on_epoch_begin(self, epoch, logs=None):
        if self._raw is not None:
            self._assign(self._raw)
            self._raw = None

    def on_train_batch_end(self, batch, logs=None):
        weights = [variable.numpy() for variable in self.model.trainable_variables]
        old = self._sums or [0.0] * len(weights)
        share = 1.0 - self.momentum
        self._sums = [
            self.momentum * total + share * w for total, w in zip(old, weights, strict=True)
        ]
        self._total = self.momentum * self._total + share

    def on_test_begin(self, logs=None):
        self._use_average()

    def on_epoch_end(self, epoch, logs=None):
        self._use_average()

    def _use_average(self):
        if self._raw is None and self._sums is not None:
            self._raw = [variable.numpy() for variable in self.model.trainable_variables]
            self._assign([total / self._total for total in self._sums])

    def _assign(self, weights):
        for variable, weight in zip(self.model.trainable_variables, weights, strict=True):
            variable.assign(weight)


def with_averaging(callbacks):
    """A list of callbacks that begins with `WeightAveraging`, so that the others see its average.

    Args:
        callbacks: what `keras.Model.fit` takes: one callback, a list or CallbackList, or None.
    """
    if isinstance(callbacks, keras.callbacks.CallbackList):
        callbacks = callbacks.callbacks
    others = callbacks if isinstance(callbacks, (list, tuple)) else [callbacks]
    return [WeightAveraging(), *filter(None, others)]
