import os

import keras
import numpy as np
import pytest
import tensorflow as tf
from without_package import saved_model_cli

from keras_elmo import FeatureCache, TextClassifier
from keras_elmo.layers.scalar_mix import ScalarMix

TEXTS = ["free entry now", "", "ok lar", "héé 日本", "win cash"]
LABELS = ["spam", "ham", "ham", "ham", "spam"]


@pytest.fixture(scope="module")
def make(make_tiny_bilm):
    """A function of classes and options to a classifier whose head has random weights."""

    def make(classes, source=None, **options):
        keras.utils.set_random_seed(0)
        classifier = TextClassifier(
            source or make_tiny_bilm(), classes=classes, hidden_units=8, **options
        )
        classifier.embedding.mixes[0].scalars.assign([0.3, -1.0, 1.2])
        return classifier

    return make


@pytest.fixture(scope="module")
def classifier(make_tiny_bilm):
    keras.utils.set_random_seed(0)
    classifier = TextClassifier(make_tiny_bilm(), hidden_units=8, dropout=0.1)
    classifier.fit(TEXTS, LABELS, epochs=60, verbose=0)
    return classifier


@pytest.fixture(scope="module")
def directory(classifier, tmp_path_factory):
    directory = tmp_path_factory.mktemp("serving") / "spam" / "1"
    classifier.export(directory)
    return directory


def signatures(directory):
    return tf.saved_model.load(os.fspath(directory)).signatures


def exported(classifier, directory):
    classifier.export(directory)
    return signatures(directory)


def assert_answer(received, classifier, inputs):
    expected = classifier.predict_proba(inputs, verbose=0)
    classes = [str(label).encode() for label in classifier.classes_]
    np.testing.assert_allclose(received["probabilities"], expected, atol=1e-5)
    labels = [classes[number] for number in expected.argmax(axis=1)]
    assert received["label"].numpy().tolist() == labels
    assert received["classes"].numpy().tolist() == [classes] * len(labels)


def test_the_signature_names_its_inputs_and_outputs(directory):
    found = signatures(directory)
    assert set(found) == {"serving_default", "tokens"}
    for signature in found.values():
        assert signature.structured_outputs == {
            "label": tf.TensorSpec((None,), tf.string, name="label"),
            "probabilities": tf.TensorSpec((None, 2), tf.float32, name="probabilities"),
            "classes": tf.TensorSpec((None, 2), tf.string, name="classes"),
        }
    assert set(found["serving_default"].structured_input_signature[1]) == {"text"}
    assert set(found["tokens"].structured_input_signature[1]) == {"tokens", "sequence_len"}


def test_answers_are_those_of_the_live_classifier(directory, classifier):
    serve = signatures(directory)["serving_default"]
    assert classifier.predict_labels(TEXTS, verbose=0).tolist() == LABELS
    for texts in (TEXTS, TEXTS[:1], [""]):
        assert_answer(serve(text=tf.constant(texts)), classifier, texts)
    nothing = serve(text=tf.constant([], tf.string))
    assert nothing["probabilities"].shape == (0, 2)


def test_tokens_give_the_same_as_their_text(directory, classifier):
    tokens = tf.constant([["free", "entry", "now"], ["ok", "lar", ""]])
    received = signatures(directory)["tokens"](tokens=tokens, sequence_len=tf.constant([3, 2]))
    assert_answer(received, classifier, ["free entry now", "ok lar"])


def test_labels_that_are_no_strings_become_strings(make, tmp_path):
    classifier = make([2, 0, 10])
    received = exported(classifier, tmp_path / "m")["serving_default"](text=tf.constant(TEXTS))
    assert_answer(received, classifier, TEXTS)
    assert received["classes"].numpy()[0].tolist() == [b"0", b"2", b"10"]


@pytest.mark.parametrize(
    "options",
    [
        {"mix": ScalarMix(layer_norm=True), "pooling": "max", "standardize": False},
        {"max_tokens": 2, "pooling": "mean"},
        {"fine_tune": True},
    ],
)
@pytest.mark.filterwarnings("ignore:A sentence has more tokens than")
def test_options_of_the_classifier_hold(make, options, tmp_path):
    classifier = make(["a", "b", "c"], **options)
    received = exported(classifier, tmp_path / "m")["serving_default"](text=tf.constant(TEXTS))
    assert_answer(received, classifier, TEXTS)


def test_a_logistic_head_is_exported_too(make_tiny_bilm, tmp_path):
    classifier = TextClassifier(make_tiny_bilm(), logistic=True, ngrams=True)
    classifier.fit(["free entry now", "ok lar", "no"], ["spam", "ham", "ham"], verbose=0)
    received = exported(classifier, tmp_path / "m")["serving_default"](text=tf.constant(TEXTS))
    assert_answer(received, classifier, TEXTS)


def test_of_texts_only_there_is_one_signature(make, tmp_path):
    classifier = make(["a", "b"], inputs="text")
    assert set(exported(classifier, tmp_path / "m")) == {"serving_default"}


def test_of_tokens_only_the_default_takes_tokens(make, tmp_path):
    rows = [["New York", "now"], ["ok"], ["lar", "b"]]
    classifier = make(["a", "b"], inputs="tokens")
    found = exported(classifier, tmp_path / "m")
    assert set(found) == {"serving_default", "tokens"}
    padded = tf.ragged.constant(rows).to_tensor("")
    for signature in found.values():
        received = signature(tokens=padded, sequence_len=tf.constant([2, 1, 2]))
        assert_answer(received, classifier, rows)


def test_a_classifier_on_a_tf_hub_module_takes_its_weights_along(make, tiny_module, tmp_path):
    classifier = make(["a", "b"], source=tiny_module)
    found = exported(classifier, tmp_path / "m")
    assert_answer(found["serving_default"](text=tf.constant(TEXTS)), classifier, TEXTS)
    data = os.path.getsize(tmp_path / "m/variables/variables.data-00000-of-00001")
    assert data > sum(array.nbytes for array in classifier.get_weights()) + 10_000
    classifier.fit(TEXTS, list("abbba"), verbose=0)


def test_within_a_feature_cache_the_graph_holds_nothing_of_it(make, tmp_path):
    classifier = make(["a", "b"])
    with FeatureCache(classifier).in_use() as cache:
        cache.add(TEXTS)
        classifier.export(tmp_path / "m")
    graph = (tmp_path / "m/saved_model.pb").read_bytes()
    assert b"PyFunc" not in graph
    received = signatures(tmp_path / "m")["serving_default"](text=tf.constant(["new words"]))
    assert_answer(received, classifier, ["new words"])


def test_a_loaded_classifier_is_exported_and_trains_on(classifier, tmp_path):
    classifier.save(tmp_path / "c.keras")
    loaded = TextClassifier.load(tmp_path / "c.keras")
    received = exported(loaded, tmp_path / "m")["serving_default"](text=tf.constant(TEXTS))
    assert_answer(received, classifier, TEXTS)
    loaded.fit(TEXTS, ["spam", "ham", "ham", "ham", "spam"], verbose=0)


def test_weights_are_written_once_without_the_optimizer(classifier, directory):
    found = tf.train.list_variables(os.fspath(directory / "variables/variables"))
    written = sum(int(np.prod(shape)) for name, shape in found if name.startswith("state"))
    # All but the number of rows that the statistics were taken from, which no answer needs.
    assert written == sum(array.size for array in classifier.get_weights()) - 1
    assert os.path.getsize(directory / "saved_model.pb") < 1_000_000


def test_what_cannot_be_exported_is_told(make_tiny_bilm, classifier, directory, tmp_path):
    with pytest.raises(ValueError, match="does not know its classes yet. Call `fit` first"):
        TextClassifier(make_tiny_bilm()).export(tmp_path / "m")
    with pytest.raises(ValueError, match="`format` must be 'tf_saved_model'.*format='onnx'"):
        classifier.export(tmp_path / "m", "onnx")
    with pytest.raises(FileExistsError, match="`overwrite=True`"):
        classifier.export(directory)
    classifier.export(directory, overwrite=True)
    assert os.listdir(tmp_path) == []


@pytest.mark.end_to_end
def test_saved_model_cli_runs_it_without_this_package(directory, classifier, tmp_path):
    options = ("--dir", directory, "--tag_set", "serve", "--signature_def", "serving_default")
    inputs = ("--input_exprs", f"text={TEXTS}", "--outdir", tmp_path)
    shown = saved_model_cli(("show", *options), ("run", *options, *inputs))
    assert "['text'] tensor_info" in shown
    for name in ("label", "probabilities", "classes"):
        assert f"['{name}'] tensor_info" in shown
    expected = classifier.predict_proba(TEXTS, verbose=0)
    np.testing.assert_allclose(np.load(tmp_path / "probabilities.npy"), expected, atol=1e-5)
    # NumPy's file of strings is not read here: it is a pickle.
    printed = shown.split("output key label:")[1].split("]")[0]
    assert printed.replace("[", "").split() == [repr(label.encode()) for label in LABELS]
