import keras
import numpy as np
import pytest

from keras_elmo import ELMoEmbedding, FeatureCache, MixHistory, Sequential, Tagger, TextClassifier

TEXTS = ["free entry now", "ok lar", "see you at 8", "win cash now", "no", "call me"]
LABELS = ["spam", "ham", "ham", "spam", "ham", "ham"]


class Witness(keras.callbacks.Callback):
    """Looks at the layer itself after each step."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.weights, self.gammas, self.losses = [], [], []

    def on_train_batch_end(self, batch, logs=None):
        self.weights.append(self.layer.layer_weights)
        self.gammas.append(self.layer.gamma)
        self.losses.append(logs["loss"])


def assert_same(history, witness):
    np.testing.assert_array_equal(history.layer_weights, witness.weights)
    np.testing.assert_array_equal(history.gamma, np.array(witness.gammas, np.float32))
    assert len(np.unique(history.layer_weights, axis=0)) == len(history.steps)


def fit(model, history, layer, *data, **options):
    witness = Witness(layer)
    model.fit(*data, callbacks=[history, witness], verbose=0, batch_size=4, **options)
    return witness


@pytest.mark.parametrize("options", [{}, {"average_weights": False}])
def test_classifier_records_the_weights_that_train(tiny_bilm, options):
    model, history = TextClassifier(tiny_bilm, **options), MixHistory()
    data = (TEXTS, LABELS)
    witness = fit(model, history, model.embedding, *data, epochs=2, validation_data=data)
    assert_same(history, witness)
    assert history.steps == [1, 2, 3, 4] and history.epoch_ends == [2, 4]
    assert sorted(history.history) == ["accuracy", "loss", "val_accuracy", "val_loss"]
    ends_raw = np.array_equal(history.layer_weights[-1], model.embedding.layer_weights)
    assert ends_raw == (options == {"average_weights": False})


@pytest.mark.parametrize("feature_cache", [True, False])
def test_tagger_records(tiny_bilm, feature_cache):
    model, history = Tagger(tiny_bilm, units=3, dropout=0.0), MixHistory()
    tokens = [["a", "b"], ["c"], ["d", "e", "f"], ["g"], ["h"]]
    labels = [["x", "y"], ["x"], ["y", "x", "y"], ["x"], ["y"]]
    witness = fit(model, history, model.embedding, tokens, labels, feature_cache=feature_cache)
    assert_same(history, witness)
    assert sorted(history.metrics) == ["accuracy", "loss"]
    assert all(0 <= value <= 1 for value in history.metrics["accuracy"])


def sequential(bilm, **options):
    model = Sequential([ELMoEmbedding(bilm, **options), keras.layers.Dense(1, "sigmoid")])
    model.compile(keras.optimizers.Adam(0.1), "binary_crossentropy", metrics=["accuracy"])
    return model


def test_losses_are_those_of_the_steps_not_means_since_the_begin(tiny_bilm):
    model, history = sequential(tiny_bilm), MixHistory()
    numbers = [label == "spam" for label in LABELS]
    cache = FeatureCache(model)
    witness = fit(cache, history, model.layers[0], TEXTS, numbers, epochs=2, shuffle=False)
    assert_same(history, witness)
    first, both = witness.losses[2:]  # of the second epoch: means over 4 and over 6 texts
    assert history.metrics["loss"][2] == pytest.approx(first)
    assert history.metrics["loss"][3] == pytest.approx((6 * both - 4 * first) / 2, rel=1e-4)


def test_every_leaves_steps_out(tiny_bilm):
    every_step, every_second = MixHistory(), MixHistory(every=2)
    model = sequential(tiny_bilm)
    numbers = np.array([0, 1, 1, 0, 1, 0])
    callbacks = [every_step, every_second]
    model.fit(TEXTS, numbers, batch_size=2, epochs=2, callbacks=callbacks, verbose=0)
    assert every_second.steps == [2, 4, 6]
    np.testing.assert_array_equal(every_second.layer_weights, every_step.layer_weights[1::2])
    losses = every_step.metrics["loss"]
    expected = [(losses[0] + losses[1]) / 2, losses[3], (losses[4] + losses[5]) / 2]
    np.testing.assert_allclose(every_second.metrics["loss"], expected, rtol=1e-5)


def test_a_further_fit_goes_on_and_another_model_begins_anew(tiny_bilm):
    history, numbers = MixHistory(), np.array([0, 1, 1, 0, 1, 0])
    model = sequential(tiny_bilm)
    for _ in range(2):
        model.fit(TEXTS, numbers, batch_size=3, callbacks=[history], verbose=0)
    assert history.steps == [1, 2, 3, 4] and history.epoch_ends == [2, 4]
    assert len(history.history["loss"]) == 2
    sequential(tiny_bilm).fit(TEXTS, numbers, batch_size=6, callbacks=[history], verbose=0)
    assert history.steps == [1] and history.epoch_ends == [1]
    assert len(history.history["loss"]) == len(history.layer_weights) == 1


def test_each_mix_of_each_layer_is_recorded(tiny_bilm):
    inputs = keras.Input((), dtype="string")
    first = ELMoEmbedding(tiny_bilm, num_mixes=2, name="two")
    second = ELMoEmbedding(tiny_bilm, name="one")
    x = keras.layers.Concatenate()([*first(inputs), second(inputs)])
    model = keras.Model(inputs, keras.layers.Dense(1)(x))
    model.compile("adam", "mse")
    history = MixHistory()
    model.fit(np.array(TEXTS, object), np.arange(6.0), callbacks=[history], verbose=0)
    assert sorted(record.name for record in history.mixes) == ["one", "two/0", "two/1"]
    by_name = {record.name: record for record in history.mixes}
    weights = [by_name[f"two/{k}"].layer_weights[-1] for k in range(2)]
    np.testing.assert_array_equal(weights, first.layer_weights)
    assert by_name["one"].gamma.tolist() == [np.float32(second.gamma)]
    with pytest.raises(ValueError, match="one mix"):
        _ = history.layer_weights


def test_a_model_without_a_mix_is_an_error(tiny_bilm):
    model = sequential(tiny_bilm, output="top")
    with pytest.raises(ValueError, match="ELMoEmbedding that has a mix"):
        model.fit(TEXTS, np.zeros(6), callbacks=[MixHistory()], verbose=0)


@pytest.mark.parametrize("every", [0, 1.5, True, "2"])
def test_every_must_be_a_count(every):
    with pytest.raises(ValueError, match="`every` must be a whole number"):
        MixHistory(every=every)
