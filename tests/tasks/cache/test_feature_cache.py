import threading

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_elmo import ELMoEmbedding, FeatureCache, Sequential, TextClassifier
from keras_elmo.bilm.bilm import BiLM
from keras_elmo.layers.scalar_mix import ScalarMix

TEXTS = ["see you today", "a", "", "한국어 문장", "see you see you see", "a b"] * 2
LABELS = [1, 0, 0, 1, 1, 0] * 2
NEW = ["you today", "z"]


@pytest.fixture(scope="module")
def bilm(make_tiny_bilm):
    return make_tiny_bilm()


def make_model(bilm, output="default", run_eagerly=False, **options):
    keras.utils.set_random_seed(3)
    layers = [ELMoEmbedding(bilm, output=output, **options)]
    if output != "default":
        layers += [keras.layers.GlobalAveragePooling1D()]
    model = Sequential([*layers, keras.layers.Dense(1, activation="sigmoid")])
    optimizer = keras.optimizers.Adam(0.05)
    model.compile(optimizer, "binary_crossentropy", run_eagerly=run_eagerly)
    return model


def train(trained, **options):
    options = {"epochs": 2, "batch_size": 6, "shuffle": False, "verbose": 0, **options}
    return trained.fit(TEXTS, LABELS, **options)


def count_runs(monkeypatch):
    """A list that gets a number for each row that goes through a biLM, in graph or not."""
    rows = []
    embed_table = BiLM.embed_table

    def counting(bilm, table, tokens, *states):
        count = tf.py_function(lambda n: rows.append(int(n)), [tokens.nrows()], [])
        with tf.control_dependencies([count] if count is not None else []):
            return embed_table(bilm, tf.identity(table), tokens, *states)

    monkeypatch.setattr(BiLM, "embed_table", counting)
    return rows


@pytest.mark.parametrize(
    ("options", "run_eagerly"),
    [
        ({}, False),
        ({"output": "elmo"}, False),
        ({"output": "elmo", "keep_boundaries": True}, True),
        ({"output": "elmo", "mix": ScalarMix(layer_norm=True)}, True),
        ({"mix": ScalarMix(layer_norm=True)}, True),
        ({"keep_boundaries": True}, True),
        ({"output": "concat"}, True),
        ({"max_tokens": 2}, True),
    ],
)
@pytest.mark.filterwarnings("ignore:A sentence has more tokens")
def test_trains_as_without(options, run_eagerly, bilm):
    plain, cached = (make_model(bilm, run_eagerly=run_eagerly, **options) for _ in range(2))
    history = train(plain)
    kept = train(FeatureCache(cached))
    np.testing.assert_allclose(kept.history["loss"], history.history["loss"], atol=1e-5)
    assert cached.history is kept
    np.testing.assert_allclose(cached(NEW), plain(NEW), atol=1e-4)


def test_each_text_runs_once_and_those_added_before_run_together(bilm, monkeypatch):
    rows = count_runs(monkeypatch)
    cache = FeatureCache(make_model(bilm, output="elmo", run_eagerly=True))
    cache.add(TEXTS)
    assert rows == [len(set(TEXTS))]
    train(cache, validation_data=(NEW, [0, 1]))
    assert sum(rows) == len(set(TEXTS)) + len(NEW)
    cache.evaluate(TEXTS, LABELS, verbose=0)
    cache.predict(NEW, verbose=0)
    assert sum(rows) == len(set(TEXTS)) + len(NEW)


def test_a_model_of_plain_keras_trains_through_the_cache(bilm, monkeypatch):
    inputs = keras.Input((), dtype="string")
    first, second = ELMoEmbedding(bilm, num_mixes=2)(inputs)
    outputs = keras.layers.Dense(1)(keras.layers.Concatenate()([first, second]))
    model = keras.Model(inputs, outputs)
    model.compile("sgd", "mse", metrics=["mae"], run_eagerly=True)
    expected = model.evaluate(np.array(TEXTS, object), np.array(LABELS), verbose=0)
    rows = count_runs(monkeypatch)
    cache = FeatureCache(model)
    x, y = tf.constant(TEXTS), tf.constant(LABELS)
    np.testing.assert_allclose(cache.evaluate(x, y, verbose=0), expected, atol=1e-5)
    history = cache.fit(x, y, epochs=2, verbose=0)
    assert set(history.history) == {"loss", "mae"} and model.history is history
    assert sum(rows) == len(set(TEXTS))
    model.compile("sgd", "mae", run_eagerly=True)
    assert cache.evaluate(x, y, verbose=0) == pytest.approx(model.evaluate(x, y, verbose=0))


class StopAfterTwo(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.model.stop_training = epoch == 1


def test_callbacks_see_the_model_and_stop_it(bilm, tmp_path):
    model = make_model(bilm, run_eagerly=True)
    path = tmp_path / "m.keras"
    stop = StopAfterTwo()
    callbacks = [stop, keras.callbacks.ModelCheckpoint(path)]
    history = train(FeatureCache(model), epochs=9, callbacks=callbacks)
    assert stop.model is model
    assert len(history.history["loss"]) == 2
    loaded = keras.models.load_model(path)
    assert type(loaded) is Sequential
    np.testing.assert_allclose(loaded(NEW), model(NEW), atol=1e-6)


def test_an_interrupted_fit_goes_on_with_its_epoch(bilm, tmp_path):
    class Interrupt(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 1:
                raise KeyboardInterrupt

    model = make_model(bilm, run_eagerly=True)
    model(NEW)
    cache = FeatureCache(model)
    backup = keras.callbacks.BackupAndRestore(tmp_path, delete_checkpoint=False)
    with pytest.raises(KeyboardInterrupt):
        train(cache, callbacks=[backup, Interrupt()])
    assert len(train(cache, callbacks=[backup]).history["loss"]) == 1


def test_other_threads_never_see_the_cache(bilm, monkeypatch):
    """While one thread trains, another traces and predicts: each as if it were alone."""
    model = make_model(bilm)
    model.optimizer.learning_rate = 0.0
    model(NEW)
    rows = count_runs(monkeypatch)
    started, found = threading.Event(), []

    def predict():
        started.wait()
        found.append(model.predict(NEW, verbose=0))

    thread = threading.Thread(target=predict)
    thread.start()
    signal = keras.callbacks.LambdaCallback(on_epoch_begin=lambda *_: started.set())
    train(FeatureCache(model), epochs=20, callbacks=[signal])
    thread.join()
    np.testing.assert_allclose(found[0], model(NEW), atol=1e-6)
    del rows[:]
    model.predict(NEW, verbose=0)
    assert sum(rows) == len(NEW)


def test_half_precision_is_near(bilm):
    plain, cached = (make_model(bilm, run_eagerly=True) for _ in range(2))
    train(plain)
    train(FeatureCache(cached, dtype="float16"))
    difference = np.abs(cached(NEW) - plain(NEW)).max()
    assert 0 < difference < 2e-3


def test_dropout_of_the_mix_goes_on(bilm):
    model = make_model(bilm, dropout=0.5)
    with FeatureCache(model).in_use():
        calm = model(tf.constant(NEW), training=False)
        np.testing.assert_allclose(calm, model(tf.constant(NEW), training=False))
        assert np.abs(model(tf.constant(NEW), training=True) - calm).max() > 1e-3


def test_a_directory_serves_the_next_run_and_other_bilms_never(
    bilm, make_tiny_bilm, tmp_path, monkeypatch
):
    def cached(bilm, **options):
        return FeatureCache(make_model(bilm, run_eagerly=True, **options), directory=tmp_path)

    rows = count_runs(monkeypatch)
    first, again = cached(bilm), cached(bilm)
    train(first)
    n_run = sum(rows)
    again = cached(bilm)
    train(again)
    assert sum(rows) == n_run
    np.testing.assert_allclose(again.model(NEW), first.model(NEW), atol=1e-6)
    del rows[:]
    train(cached(make_tiny_bilm(seed=1)), epochs=1)
    train(cached(bilm, tokenizer="words"), epochs=1)
    assert sum(rows) == 2 * n_run
    assert len(list(tmp_path.iterdir())) == 3


def test_beyond_its_bytes_texts_run_each_time(bilm, monkeypatch):
    plain, cached = (make_model(bilm, run_eagerly=True) for _ in range(2))
    train(plain)
    rows = count_runs(monkeypatch)
    train(FeatureCache(cached, most_bytes=1))
    assert sum(rows) == 2 * len(TEXTS)
    np.testing.assert_allclose(cached(NEW), plain(NEW), atol=1e-4)


def test_several_mixes_and_outputs(bilm):
    layer = ELMoEmbedding(bilm, output=["default", "elmo", "top"], num_mixes=2)
    expected = layer(TEXTS)
    with FeatureCache(layer).in_use():
        found = layer(TEXTS)
    for one, other in zip(*map(keras.tree.flatten, (found, expected)), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_needs_a_frozen_embedding(bilm):
    with pytest.raises(ValueError, match="an ELMoEmbedding or a Keras model"):
        FeatureCache(keras.Sequential([keras.layers.Dense(1)]))
    with pytest.raises(ValueError, match="must have a frozen biLM"):
        FeatureCache(ELMoEmbedding(bilm, fine_tune=True))
    with pytest.raises(TypeError, match="must be of a Keras model to `fit`"):
        FeatureCache(ELMoEmbedding(bilm)).fit(TEXTS, LABELS)


def make_classifier(bilm, **options):
    keras.utils.set_random_seed(5)
    classifier = TextClassifier(bilm, classes=[0, 1], **options)
    classifier.compile("adam", "binary_crossentropy", run_eagerly=True)
    return classifier


@pytest.mark.parametrize("pooling", ["mean", "both"])
def test_classifier_runs_each_text_once(pooling, bilm, monkeypatch):
    models = []
    for feature_cache in (False, True):
        rows = count_runs(monkeypatch)
        model = make_classifier(bilm, pooling=pooling)
        data = {"validation_data": (NEW, [0, 1]), "feature_cache": feature_cache}
        train(model, **data)
        models.append(model)
        monkeypatch.undo()
    assert sum(rows) == len(set(TEXTS)) + len(NEW)
    plain, cached = (model.predict_proba(NEW, verbose=0) for model in models)
    np.testing.assert_allclose(cached, plain, atol=1e-4)


def test_classifier_keeps_features_in_a_directory(bilm, tmp_path, monkeypatch):
    train(make_classifier(bilm), epochs=1, feature_cache=tmp_path)
    rows = count_runs(monkeypatch)
    cache = FeatureCache(make_classifier(bilm), directory=tmp_path)
    train(cache, epochs=1)
    assert sum(rows) == 0


def test_classifier_that_fine_tunes_keeps_nothing(bilm, make_tiny_bilm):
    classifier = make_classifier(make_tiny_bilm(), fine_tune=True)
    before = classifier.embedding.source.bilm.fingerprint()
    train(classifier, epochs=1)
    assert classifier.embedding.source.bilm.fingerprint() != before


def test_wrong_labels_are_told_before_the_bilm_runs(bilm, monkeypatch):
    classifier = TextClassifier(bilm, classes=["a", "b"])
    rows = count_runs(monkeypatch)
    with pytest.raises(ValueError, match="c"):
        classifier.fit(TEXTS, ["c"] * len(TEXTS), verbose=0)
    assert rows == []
