import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_elmo import ELMoEmbedding, FeatureCache, Sequential, TextClassifier
from keras_elmo.bilm.bilm import BiLM
from keras_elmo.layers.scalar_mix import ScalarMix

TEXTS = ["see you today", "a", "", "한국어 문장", "see you see you see", "a b"] * 3
LABELS = [1, 0, 0, 1, 1, 0] * 3
NEW = ["you today", "z"]


def make_model(bilm, output="default", **options):
    keras.utils.set_random_seed(3)
    layers = [ELMoEmbedding(bilm, output=output, **options)]
    if output != "default":
        layers += [keras.layers.GlobalAveragePooling1D()]
    model = Sequential([*layers, keras.layers.Dense(1, activation="sigmoid")])
    model.compile(keras.optimizers.Adam(0.05), "binary_crossentropy")
    return model


def train(model, cache=None, **options):
    options = {"epochs": 3, "batch_size": 4, "shuffle": False, "verbose": 0, **options}
    if cache is None:
        return model.fit(TEXTS, LABELS, **options)
    with cache:
        return model.fit(TEXTS, LABELS, **options)


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
    "options",
    [
        {},
        {"output": "elmo"},
        {"output": "elmo", "keep_boundaries": True},
        {"output": "elmo", "mix": ScalarMix(layer_norm=True)},
        {"mix": ScalarMix(layer_norm=True)},
        {"keep_boundaries": True},
        {"output": "concat"},
        {"max_tokens": 2},
    ],
)
@pytest.mark.filterwarnings("ignore:A sentence has more tokens")
def test_trains_as_without(options, tiny_bilm):
    plain, cached = (make_model(tiny_bilm, **options) for _ in range(2))
    history = train(plain)
    kept = train(cached, FeatureCache(cached))
    np.testing.assert_allclose(kept.history["loss"], history.history["loss"], atol=1e-5)
    np.testing.assert_allclose(cached.predict(NEW), plain.predict(NEW), atol=1e-4)
    assert cached.layers[0].feature_cache is None


def test_each_text_runs_once(tiny_bilm, monkeypatch):
    rows = count_runs(monkeypatch)
    model = make_model(tiny_bilm, output="elmo")
    train(model, FeatureCache(model), validation_data=(NEW, [0, 1]))
    assert sum(rows) == len(set(TEXTS)) + len(NEW)


def test_texts_added_before_run_together(tiny_bilm, monkeypatch):
    model = make_model(tiny_bilm)
    cache = FeatureCache(model)
    rows = count_runs(monkeypatch)
    cache.add(TEXTS)
    assert rows == [len(set(TEXTS))]
    train(model, cache)
    assert sum(rows) == len(set(TEXTS))


def test_half_precision_is_near(tiny_bilm):
    plain, cached = (make_model(tiny_bilm) for _ in range(2))
    train(plain)
    train(cached, FeatureCache(cached, dtype="float16"))
    difference = np.abs(cached.predict(NEW) - plain.predict(NEW)).max()
    assert 0 < difference < 2e-3


def test_dropout_of_the_mix_goes_on(tiny_bilm):
    model = make_model(tiny_bilm, dropout=0.5)
    cache = FeatureCache(model)
    assert not cache._caches[0].pooled
    with cache:
        calm = model(tf.constant(NEW), training=False)
        np.testing.assert_allclose(calm, model(tf.constant(NEW), training=False))
        assert np.abs(model(tf.constant(NEW), training=True) - calm).max() > 1e-3


def test_a_directory_serves_the_next_run_and_other_bilms_never(
    tiny_bilm, make_tiny_bilm, tmp_path, monkeypatch
):
    rows = count_runs(monkeypatch)
    model = make_model(tiny_bilm)
    train(model, FeatureCache(model, directory=tmp_path))
    n_run = sum(rows)
    again = make_model(tiny_bilm)
    train(again, FeatureCache(again, directory=tmp_path))
    assert sum(rows) == n_run
    np.testing.assert_allclose(again.predict(NEW), model.predict(NEW), atol=1e-6)
    del rows[:]
    for other in (make_model(make_tiny_bilm(seed=1)), make_model(tiny_bilm, tokenizer="words")):
        train(other, FeatureCache(other, directory=tmp_path))
    assert sum(rows) == 2 * n_run
    assert len(list(tmp_path.iterdir())) == 3


def test_beyond_its_bytes_texts_run_each_time(tiny_bilm, monkeypatch):
    plain, cached = (make_model(tiny_bilm) for _ in range(2))
    train(plain)
    rows = count_runs(monkeypatch)
    train(cached, FeatureCache(cached, most_bytes=1))
    np.testing.assert_allclose(cached.predict(NEW), plain.predict(NEW), atol=1e-4)
    assert sum(rows) > 2 * len(TEXTS)


def test_several_mixes_and_outputs(tiny_bilm):
    layer = ELMoEmbedding(tiny_bilm, output=["default", "elmo", "top"], num_mixes=2)
    expected = layer(TEXTS)
    with FeatureCache(layer):
        found = layer(TEXTS)
    for one, other in zip(*map(keras.tree.flatten, (found, expected)), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_needs_a_frozen_embedding(tiny_bilm):
    with pytest.raises(ValueError, match="an ELMoEmbedding or a Keras model"):
        FeatureCache(keras.Sequential([keras.layers.Dense(1)]))
    with pytest.raises(ValueError, match="must have a frozen biLM"):
        FeatureCache(ELMoEmbedding(tiny_bilm, fine_tune=True))


@pytest.mark.parametrize("pooling", ["mean", "max", "both"])
def test_classifier_runs_each_text_once(pooling, tiny_bilm, monkeypatch):
    models = []
    for feature_cache in (False, True):
        rows = count_runs(monkeypatch)
        keras.utils.set_random_seed(5)
        model = TextClassifier(tiny_bilm, pooling=pooling)
        model.fit(
            TEXTS, LABELS, epochs=3, batch_size=4, verbose=0, feature_cache=feature_cache,
            validation_data=(NEW, [0, 1]),
        )  # fmt: skip
        models.append(model)
        monkeypatch.undo()
    assert sum(rows) == len(set(TEXTS)) + len(NEW)
    plain, cached = (model.predict_proba(NEW, verbose=0) for model in models)
    np.testing.assert_allclose(cached, plain, atol=1e-4)


def test_classifier_keeps_features_in_a_directory(tiny_bilm, tmp_path, monkeypatch):
    TextClassifier(tiny_bilm).fit(TEXTS, LABELS, verbose=0, feature_cache=tmp_path)
    rows = count_runs(monkeypatch)
    TextClassifier(tiny_bilm).fit(TEXTS, LABELS, verbose=0, feature_cache=tmp_path)
    assert sum(rows) == 0


def test_classifier_that_fine_tunes_keeps_nothing(tiny_bilm):
    classifier = TextClassifier(tiny_bilm, fine_tune=True)
    before = classifier.embedding.source.bilm.fingerprint()
    classifier.fit(TEXTS, LABELS, verbose=0)
    assert classifier.embedding.source.bilm.fingerprint() != before


def test_wrong_labels_are_told_before_the_bilm_runs(tiny_bilm, monkeypatch):
    classifier = TextClassifier(tiny_bilm, classes=["a", "b"])
    rows = count_runs(monkeypatch)
    with pytest.raises(ValueError, match="c"):
        classifier.fit(TEXTS, ["c"] * len(TEXTS), verbose=0)
    assert rows == []
