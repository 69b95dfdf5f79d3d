import os
import re

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_elmo import ELMoEmbedding, Sequential, Tagger, TextClassifier
from keras_elmo.cli.main import main
from keras_elmo.layers.scalar_mix import ScalarMix

TEXTS = ["free entry now", "", "héé 日本"]
OF_MODULE = "default, elmo, lstm_outputs1, lstm_outputs2, word_emb"
OF_CLASSIFIER = "classes, label, probabilities"


@pytest.fixture(scope="module")
def classifier(make_tiny_bilm):
    keras.utils.set_random_seed(0)
    return TextClassifier(make_tiny_bilm(), classes=["ham", "spam"], hidden_units=8)


@pytest.fixture(scope="module")
def trained(classifier, tmp_path_factory):
    """The directory that `keras_elmo-train classifier` writes."""
    directory = tmp_path_factory.mktemp("trained")
    classifier.save(directory / "model.keras")
    (directory / "metrics.json").write_text("{}")
    return directory


def loss_of_its_own(true, predicted):
    """Nobody who loads a model has this function."""
    return predicted - true


def load(directory):
    return tf.saved_model.load(os.fspath(directory))


def test_a_bilm_becomes_a_module(tiny_directory, tmp_path, capsys):
    out = tmp_path / "elmo"
    assert main(["export", str(tiny_directory), str(out)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"written to {out}: ELMo module",
        f"default, serving_default: text -> {OF_MODULE}",
        f"tokens: sequence_len, tokens -> {OF_MODULE}",
    ]
    live = ELMoEmbedding(str(tiny_directory))
    np.testing.assert_allclose(load(out)(tf.constant(TEXTS)), live(TEXTS), atol=1e-5)


def test_a_classifier_becomes_one_for_serving(trained, classifier, tmp_path, capsys):
    out = tmp_path / "spam" / "1"
    assert main(["export", str(trained), str(out)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"written to {out}: classifier",
        f"serving_default: text -> {OF_CLASSIFIER}",
        f"tokens: sequence_len, tokens -> {OF_CLASSIFIER}",
    ]
    received = load(out).signatures["serving_default"](text=tf.constant(TEXTS))
    expected = classifier.predict_proba(TEXTS, verbose=0)
    np.testing.assert_allclose(received["probabilities"], expected, atol=1e-5)


def test_a_tagger_becomes_one_for_serving(make_tiny_bilm, tmp_path, capsys):
    tagger = Tagger(make_tiny_bilm(), units=0, classes=["NOUN", "VERB"])
    tagger.save(tmp_path / "model.keras")
    out = tmp_path / "pos" / "1"
    out.mkdir(parents=True)
    (out / "saved_model.pb").write_text("old")
    assert main(["export", str(tmp_path), str(out), "--overwrite"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"written to {out}: tagger",
        "serving_default, tokens: sequence_len, tokens -> classes, labels, probabilities",
    ]
    serve = load(out).signatures["serving_default"]
    received = serve(tokens=tf.constant([["I", "agree"]]), sequence_len=tf.constant([2]))
    expected = tagger.predict([["I", "agree"]], verbose=0)
    np.testing.assert_allclose(received["probabilities"], expected, atol=1e-5)


def test_hub_takes_the_elmo_layer_of_a_classifier(trained, classifier, tmp_path, capsys):
    out = tmp_path / "elmo"
    assert main(["export", str(trained), str(out), "--hub"]) == 0
    assert "ELMo module\ndefault, serving_default: text -> " in capsys.readouterr().out
    received = load(out).signatures["default"](text=tf.constant(TEXTS))["elmo"]
    np.testing.assert_allclose(received, classifier.embedding(TEXTS), atol=1e-5)


def test_the_elmo_layer_of_another_model_is_exported(make_tiny_bilm, tmp_path, capsys):
    layer = ELMoEmbedding(make_tiny_bilm(), mix=ScalarMix(initial_gamma=2.0))
    model = Sequential([keras.Input((), dtype="string"), layer, keras.layers.Dense(1)])
    model.compile("adam", loss=loss_of_its_own)
    model.save(tmp_path / "model.keras")
    assert main(["export", str(tmp_path / "model.keras"), str(tmp_path / "elmo")]) == 0
    assert "ELMo module" in capsys.readouterr().out
    np.testing.assert_allclose(load(tmp_path / "elmo")(tf.constant(TEXTS)), layer(TEXTS), atol=1e-5)


def test_a_saved_model_is_replaced_when_asked_and_nothing_else_ever(
    tiny_directory, tmp_path, capsys
):
    (tmp_path / "saved_model.pb").write_text("old")
    assert main(["export", str(tiny_directory), str(tmp_path)]) == 2
    assert "DIR must be a new or an empty directory" in (error := capsys.readouterr().err)
    assert "replace it with --overwrite" in error
    assert main(["export", "english-small", str(tiny_directory), "--overwrite"]) == 2
    assert "a SavedModel to replace" in capsys.readouterr().err
    assert sorted(os.listdir(tiny_directory)) == ["options.json", "weights.hdf5"]


@pytest.fixture
def unknown(make_tiny_bilm, tmp_path):
    """Files that hold nothing to export."""
    (tmp_path / "damaged.keras").write_bytes(b"no zip archive")
    numbers = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    numbers.save(tmp_path / "numbers.keras")
    layers = [ELMoEmbedding(make_tiny_bilm(), num_mixes=2, name="mixed")]
    text = keras.Input((), dtype="string")
    keras.Model(text, layers[0](text)).save(tmp_path / "mixes.keras")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing", "Received: '.*nothing', and nothing is there"),
        ("nothing.keras", "nothing.keras must be a `.keras` file. Received: nothing there"),
        ("damaged.keras", "must be a whole `.keras` file. Received: a damaged"),
        ("numbers.keras", "exactly one ELMoEmbedding"),
        ("mixes.keras", "one mix"),
    ],
)
def test_a_fault_is_one_line_and_leaves_nothing(unknown, name, message, capsys):
    before = sorted(os.listdir(unknown))
    assert main(["export", str(unknown / name), str(unknown / "m")]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith(f"keras_elmo export: error: SOURCE {unknown / name}: ")
    assert error.count("\n") == 1
    assert re.search(message, error)
    assert sorted(os.listdir(unknown)) == before


@pytest.mark.filterwarnings("ignore:You are saving a model that has not yet been built")
def test_a_classifier_without_classes_is_told(make_tiny_bilm, tmp_path, capsys):
    TextClassifier(make_tiny_bilm()).save(tmp_path / "c.keras")
    assert main(["export", str(tmp_path / "c.keras"), str(tmp_path / "m")]) == 2
    assert "does not know its classes yet" in capsys.readouterr().err


def test_a_failure_to_write_is_told(tiny_directory, tmp_path, capsys, monkeypatch):
    def fail(*arguments, **options):
        raise OSError("disk full")

    monkeypatch.setattr(tf.saved_model, "save", fail)
    assert main(["export", str(tiny_directory), str(tmp_path / "m")]) == 2
    assert f"DIR {tmp_path / 'm'} cannot be written: disk full" in capsys.readouterr().err
    assert os.listdir(tmp_path) == []
