"""`ELMoEmbedding` around a TF-Hub module."""

import os
import shutil

import keras
import numpy as np
import pytest
import tensorflow as tf
from tiny_hub_module import write_module

import keras_elmo
from keras_elmo import ELMoEmbedding, Embedder, ScalarMix

TEXTS = ["free entry now", "", "  see you  at 8/9 "]


@pytest.fixture(scope="module")
def place(tiny_module):
    return tiny_module


@pytest.fixture(scope="module")
def mixed_place(make_tiny_bilm, tmp_path_factory):
    """A module with a trained mix of its own."""
    directory = tmp_path_factory.mktemp("hub") / "mixed"
    return write_module(make_tiny_bilm(), directory, scalars=(0.5, -1.0, 2.0), gamma=1.5)


def own(place, signature="default", **inputs):
    module = tf.saved_model.load(place, tags=[])
    return module.signatures[signature](**inputs)


def test_outputs_are_the_modules_own(place):
    names = {"top": "lstm_outputs2", "default": "default", "elmo": "elmo", "word_emb": "word_emb"}
    expected = own(place, text=tf.constant(TEXTS))
    for name, output in ELMoEmbedding(place, output=list(names))(TEXTS).items():
        np.testing.assert_allclose(output, expected[names[name]], atol=1e-5)


@pytest.mark.parametrize("native", [False, True])
def test_the_mix_starts_as_the_modules_own(native, mixed_place):
    layer = ELMoEmbedding(mixed_place, output="elmo", native=native)
    expected = own(mixed_place, text=tf.constant(TEXTS))["elmo"]
    np.testing.assert_allclose(layer(TEXTS), expected, atol=1e-5)
    assert layer.gamma == 1.5
    np.testing.assert_allclose(layer.layer_weights, tf.nn.softmax([0.5, -1.0, 2.0]), rtol=1e-6)
    again = ELMoEmbedding.from_config(layer.get_config())
    assert again.gamma == 1.5 and again.mix.initial_scalars == (0.5, -1.0, 2.0)


def test_what_is_given_goes_before_the_modules_own_mix(mixed_place):
    layer = ELMoEmbedding(mixed_place, mix=ScalarMix(initial_scalars=[0, 0, 0], initial_gamma=1))
    np.testing.assert_allclose(layer.layer_weights, [1 / 3] * 3, rtol=1e-6)
    assert layer.gamma == 1.0
    fixed = ELMoEmbedding(mixed_place, mix=ScalarMix(fixed_weights=[0, 0, 1]))
    assert fixed.layer_weights.tolist() == [0, 0, 1]


def test_tokens_are_the_tokens_signature(place):
    padded = tf.constant([["New York", "is", "big"], ["no", "", ""]])
    expected = own(place, "tokens", tokens=padded, sequence_len=tf.constant([3, 1]))["elmo"]
    layer = ELMoEmbedding(place, output="elmo")
    np.testing.assert_allclose(layer([["New York", "is", "big"], ["no"]]), expected, atol=1e-5)
    given = layer({"tokens": padded, "sequence_len": tf.constant([3, 1])})
    np.testing.assert_allclose(given, expected, atol=1e-5)


def test_only_the_mix_trains(place):
    layer = ELMoEmbedding(place)
    model = keras.Sequential([layer, keras.layers.Dense(1, activation="sigmoid")])
    model.compile("adam", "binary_crossentropy", run_eagerly=True)
    texts, labels = np.array([*TEXTS, "win a prize"], object), np.array([1, 0, 0, 1])
    before = layer.get_weights()
    history = model.fit(texts, labels, epochs=2, batch_size=3, verbose=0)
    assert np.isfinite(history.history["loss"]).all()
    assert sum(np.size(weight) for weight in layer.trainable_weights) == 4
    assert layer.non_trainable_weights == []
    assert all(np.any(a != b) for a, b in zip(before, layer.get_weights(), strict=True))


def test_a_saved_model_finds_the_module_again(place, tmp_path):
    model = keras.Sequential([ELMoEmbedding(place), keras.layers.Dense(2)])
    expected = model(tf.constant(TEXTS))
    model.save(tmp_path / "model.keras")
    assert os.path.getsize(tmp_path / "model.keras") < 100_000
    again = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(again(tf.constant(TEXTS)), expected, atol=1e-6)


def test_a_saved_native_model_needs_no_module(place, tmp_path):
    shutil.copytree(place, tmp_path / "module")
    model = keras.Sequential([ELMoEmbedding(tmp_path / "module", native=True)])
    expected = model(tf.constant(TEXTS))
    model.save(tmp_path / "model.keras")
    shutil.rmtree(tmp_path / "module")
    again = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(again(tf.constant(TEXTS)), expected, atol=1e-6)


def test_clones_and_weights_files(place, tmp_path):
    layer = ELMoEmbedding(place)
    model = keras.Sequential([keras.Input((), dtype="string"), layer])
    layer.mixes[0].gamma.assign(3.0)
    model.save_weights(tmp_path / "w.weights.h5")
    clone = keras.models.clone_model(model)
    clone.load_weights(tmp_path / "w.weights.h5")
    assert clone.layers[-1].gamma == 3.0


def test_embedder_cache_and_classifier_take_modules(place):
    layer = ELMoEmbedding(place, output="elmo")
    for vectors, text in zip(Embedder(layer).embed(TEXTS), TEXTS, strict=True):
        np.testing.assert_allclose(vectors, layer([text])[0][: len(vectors)], atol=1e-5)
    classifier = keras_elmo.TextClassifier(place)
    classifier.fit([*TEXTS, "win"], ["spam", "ham", "ham", "spam"], epochs=2, verbose=0)
    assert set(classifier.predict_labels(TEXTS)) <= {"spam", "ham"}


@pytest.mark.parametrize("native", [False, True])
def test_what_is_exported_comes_back_with_its_mix(native, tiny_bilm, tmp_path):
    mix = ScalarMix(initial_scalars=[1, 2, -1], initial_gamma=0.5)
    layer = ELMoEmbedding(tiny_bilm, output="elmo", mix=mix, tokenizer="words")
    keras_elmo.export_hub(layer, tmp_path / "module")
    again = ELMoEmbedding(tmp_path / "module", output="elmo", native=native)
    assert again.tokenizer == "words"
    texts = [*TEXTS, "it's 8/9, isn't it?"]
    np.testing.assert_allclose(again(texts), layer(texts), atol=1e-5)
    assert again.gamma == 0.5
    np.testing.assert_allclose(again.layer_weights, layer.layer_weights, rtol=1e-6)


def test_boundaries_need_a_native_bilm(place):
    with pytest.raises(ValueError, match="`keep_boundaries=True` must have a source.*native=True"):
        ELMoEmbedding(place, output="elmo", keep_boundaries=True)
    layer = ELMoEmbedding(place, output="elmo", keep_boundaries=True, native=True)
    assert layer(["a b"]).shape == (1, 4, 16)


def test_fine_tuning_needs_a_native_bilm(place):
    with pytest.raises(ValueError, match=r"Convert it: `native=True`"):
        ELMoEmbedding(place, fine_tune=True)
    assert ELMoEmbedding(place, fine_tune=True, native=True).source.bilm.trainable_weights


def test_a_shared_module_mixes_as_its_own(shared):
    place = str(shared / "fixtures" / "tf1_hub" / "allennlp_fixture")
    texts = ["free entry now", "ok", "see you at 8/9"]  # These modules keep empty pieces.
    expected = own(place, text=tf.constant(texts))
    for native in (False, True):
        layer = ELMoEmbedding(place, output=["elmo", "default"], native=native)
        for name, output in layer(texts).items():
            np.testing.assert_allclose(output, expected[name], atol=1e-5)
