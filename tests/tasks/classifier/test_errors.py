"""What a `TextClassifier` refuses, and how it says so."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.tasks.classifier.text_classifier import TextClassifier

LABELS = ["spam", "ham", "ham", "spam"]


def make(bilm, **kwargs):
    keras.utils.set_random_seed(0)
    return TextClassifier(bilm, **{"hidden_units": 8, **kwargs})


def make_eager(bilm, **kwargs):
    """One that is not traced, because tracing is slower than a few steps."""
    classifier = make(bilm, **kwargs)
    two = len(kwargs.get("classes") or "ab") == 2
    loss = "binary_crossentropy" if two else "sparse_categorical_crossentropy"
    classifier.compile("sgd", loss, metrics=["accuracy"], run_eagerly=True)
    return classifier


@pytest.fixture(scope="module")
def classifier(make_tiny_bilm):
    """An untrained one that knows its classes."""
    return make(make_tiny_bilm(), classes=["ham", "spam"])


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (["a", "b"], ["ham"], "`y` must have one entry for each of the 2 texts.*1 entries"),
        (["a", "b"], ["ham", "ham"], "at least two classes.*'ham'"),
        (["a", None], ["ham", "spam"], "1"),
        (["a", "b"], ["ham", None], "no label in row 1"),
        ((batch for batch in ()), None, "readable more than once"),
        (tf.data.Dataset.from_tensors((["a"], ["ham"])).repeat(), None, "`steps_per_epoch` must"),
        (tf.data.Dataset.from_tensors(["a"]), None, r"must yield tuples \(texts, labels\)"),
    ],
)
def test_bad_training_data_is_named(make_tiny_bilm, x, y, message):
    with pytest.raises(ValueError, match=message):
        make(make_tiny_bilm()).fit(x, y, verbose=0)


def test_a_dataset_has_no_validation_split(make_tiny_bilm, texts):
    dataset = tf.data.Dataset.from_tensor_slices((texts, LABELS)).batch(2)
    with pytest.raises(ValueError, match="validation_split"):
        make_eager(make_tiny_bilm()).fit(dataset, validation_split=0.5, verbose=0)


def test_missing_labels_are_a_type_error(classifier, texts):
    with pytest.raises(TypeError, match="`y` must hold one label for each text"):
        classifier.evaluate(texts, verbose=0)


def test_unknown_labels_are_named_everywhere(make_tiny_bilm, texts):
    classifier = make_eager(make_tiny_bilm(), classes=["ham", "spam"])
    strange = ["ham", "eggs", "ham", "spam"]
    dataset = tf.data.Dataset.from_tensor_slices((texts, strange)).batch(2)
    message = "unknown label 'eggs', first in row .* knows the classes 'ham', 'spam'"
    for call in (
        lambda: classifier.fit(texts, strange, verbose=0),
        lambda: classifier.fit(texts, LABELS, validation_data=(texts, strange), verbose=0),
        lambda: classifier.fit(texts, LABELS, validation_data=dataset, verbose=0),
        lambda: classifier.fit(dataset, verbose=0),
        lambda: classifier.evaluate(texts, strange, verbose=0),
        lambda: classifier.evaluate(dataset, verbose=0),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_labels"])
def test_before_fit_it_says_so(make_tiny_bilm, method):
    with pytest.raises(ValueError, match="does not know its classes yet. Call `fit` first"):
        getattr(make(make_tiny_bilm()), method)(["a"], verbose=0)


def test_a_format_that_loses_the_model_is_refused(classifier, tmp_path):
    with pytest.raises(ValueError, match="must end in `.keras`"):
        classifier.save(tmp_path / "m.h5")
    assert not (tmp_path / "m.h5").exists()


def test_options_that_a_classifier_fixes(make_tiny_bilm):
    with pytest.raises(ValueError, match="`num_mixes` must be left out"):
        make(make_tiny_bilm(), num_mixes=2)


def test_no_rows(classifier):
    for call in (classifier.fit, classifier.evaluate):
        with pytest.raises(ValueError, match="at least one text"):
            call([], [])
    assert classifier.predict([], verbose=0).shape == (0, 1)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"sample_weight": [1, -1, 1, 1]},
            ValueError,
            "`sample_weight` must hold numbers >= 0.*-1.0 in row 1",
        ),
        ({"sample_weight": [1, 1, np.inf, 1]}, ValueError, "`sample_weight`.* inf in row 2"),
        ({"sample_weight": [0, 0, 0, 0]}, ValueError, "one of them above 0"),
        ({"class_weight": {"spam": -2, "ham": 1}}, ValueError, "Received: -2 for 'spam'"),
        ({"class_weight": {"spam": "3", "ham": 1}}, ValueError, "Received: '3' for 'spam'"),
        ({"class_weight": {"spam": np.nan}}, ValueError, "Received: nan for 'spam'"),
        ({"class_weight": "balanced"}, TypeError, "must be a dict .* Received: 'balanced'"),
        ({"batch_size": 0}, ValueError, "`batch_size` must be a whole number >= 1"),
    ],
)
def test_weights_that_are_none_are_told_before_any_work(
    make_tiny_bilm, texts, options, error, message
):
    classifier = TextClassifier(make_tiny_bilm(), logistic=True)
    with pytest.raises(error, match=message):
        classifier.fit(texts, LABELS, verbose=0, **options)
    assert classifier.labels is None


def test_a_directory_that_is_absent_is_told(classifier, tmp_path):
    with pytest.raises(FileNotFoundError, match="directory that exists.* Make .*absent"):
        classifier.save(tmp_path / "absent" / "m.keras")
