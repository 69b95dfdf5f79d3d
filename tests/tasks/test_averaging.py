import keras
import numpy as np
import pytest

from keras_elmo.tasks.averaging import WeightAveraging, with_averaging

X = np.array([[1.0], [2.0], [3.0], [4.0]], np.float32)
Y = 3.0 * X


class Recorder(keras.callbacks.Callback):
    """What a user's callback sees: the weight after each step, and at the end of each epoch."""

    def __init__(self):
        super().__init__()
        self.steps, self.epochs = [], []

    def weight(self):
        return float(self.model.trainable_variables[0].numpy().item())

    def on_train_batch_end(self, batch, logs=None):
        self.steps.append(self.weight())

    def on_epoch_end(self, epoch, logs=None):
        self.epochs.append(self.weight())


def fit(momentum, **options):
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False)])
    model.compile(keras.optimizers.SGD(0.01), "mse")
    recorder = Recorder()
    callbacks = [WeightAveraging(momentum), recorder]
    history = model.fit(
        X, Y, batch_size=1, shuffle=False, verbose=0, callbacks=callbacks, **options
    )
    return model, recorder, history.history


def average(steps, momentum):
    """The docstring's formula."""
    shares = momentum ** np.arange(len(steps))[::-1]
    return float(np.dot(shares, steps) / shares.sum())


def test_equals_the_formula_while_training_goes_on_raw():
    _, raw, _ = fit(0.0, epochs=2)
    model, recorder, _ = fit(0.8, epochs=2)
    assert recorder.steps == pytest.approx(raw.steps, rel=1e-6)
    expected = [average(raw.steps[:4], 0.8), average(raw.steps, 0.8)]
    assert recorder.epochs == pytest.approx(expected, rel=1e-5)
    assert recorder.weight() == pytest.approx(expected[-1], rel=1e-5)
    assert model.trainable_variables[0].numpy().item() == recorder.weight()


def test_validation_is_that_of_the_weights_that_are_left():
    model, _, history = fit(0.8, epochs=2, validation_data=(X, Y))
    assert history["val_loss"][-1] == pytest.approx(model.evaluate(X, Y, verbose=0), rel=1e-6)
    assert history["val_loss"][0] != pytest.approx(history["val_loss"][1])


def test_a_checkpoint_holds_the_weights_that_are_left(tmp_path):
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False)])
    model.compile("sgd", "mse")
    path = tmp_path / "last.keras"
    callbacks = [WeightAveraging(), keras.callbacks.ModelCheckpoint(path)]
    model.fit(X, Y, batch_size=1, epochs=2, verbose=0, callbacks=callbacks)
    np.testing.assert_array_equal(keras.models.load_model(path).get_weights(), model.get_weights())


def test_averaging_comes_before_the_callbacks_of_the_user():
    own = Recorder()
    for callbacks in (own, [own], keras.callbacks.CallbackList([own])):
        first, *others = with_averaging(callbacks)
        assert isinstance(first, WeightAveraging) and own in others
    assert len(with_averaging(None)) == 1
