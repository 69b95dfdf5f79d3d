"""`TextClassifier(logistic=True)`: what is solved, with which data, and what is refused."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.tasks.classifier.logistic_head import NGRAM_SHARE, STRENGTH
from keras_elmo.tasks.classifier.text_classifier import TextClassifier

TEXTS = ["free entry now", "ok lar", "see you at 8", "win cash now", "call me", "no"]
LABELS = ["spam", "ham", "ham", "spam", "ham", "ham"]
THREE = ["spam", "ham", "other", "ham", "ham", "other"]


@pytest.fixture(scope="module")
def make(make_tiny_bilm):
    """A function to a classifier that is not traced: tracing is slower than a fit."""
    bilm = make_tiny_bilm()

    def make(n_classes=2, **kwargs):
        classifier = TextClassifier(bilm, logistic=True, **kwargs)
        loss = "binary_crossentropy" if n_classes == 2 else "sparse_categorical_crossentropy"
        classifier.compile("sgd", loss, metrics=["accuracy"], run_eagerly=True)
        return classifier

    return make


def features_of(classifier, texts):
    """The pooled vectors, standardised, of length 1; and the n-grams, dense, with their share."""
    x = classifier.standardization(classifier.features(tf.constant(texts))).numpy()
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    if not classifier.ngrams:
        return x, classifier.head.kernel.numpy()
    grams = classifier.characters(classifier.embedding.read(tf.constant(texts)).tokens)
    grams = tf.sparse.to_dense(tf.sparse.reorder(grams)).numpy() * np.sqrt(NGRAM_SHARE)
    kernels = [classifier.head.kernel.numpy(), classifier.head.ngram_kernel.numpy()]
    return np.concatenate([x, grams], axis=1), np.concatenate(kernels)


def balanced(labels):
    return np.array([len(labels) / (len(set(labels)) * labels.count(label)) for label in labels])


def slope(classifier, labels, weights):
    """The derivatives by kernel and bias of the penalised loss, 0 at its minimum."""
    x, kernel = features_of(classifier, TEXTS)
    probabilities = classifier.predict_proba(TEXTS, verbose=0)
    targets = np.array([[label == name for name in classifier.classes_] for label in labels])
    errors = STRENGTH * weights[:, None] * (probabilities - targets)
    errors = errors[:, 1:] if len(classifier.classes_) == 2 else errors
    return np.concatenate([(kernel + x.T @ errors).ravel(), errors.sum(0)])


@pytest.mark.parametrize(
    ("labels", "ngrams"), [(LABELS, True), (THREE, False)], ids=["two classes", "three classes"]
)
def test_fit_finds_the_minimum_of_the_penalised_loss(make, labels, ngrams):
    classifier = make(len(set(labels)), ngrams=ngrams)
    classifier.fit(TEXTS, labels, verbose=0)
    assert np.abs(slope(classifier, labels, balanced(labels))).max() < 2e-2
    assert np.abs(slope(classifier, labels, np.ones(6))).max() > 1e-1
    assert classifier.predict_labels(TEXTS, verbose=0).tolist() == labels


def test_weights_of_classes_and_rows_count(make):
    classifier = make()
    rows = np.array([1.0, 2.0, 1.0, 0.5, 1.0, 3.0])
    classifier.fit(
        TEXTS, LABELS, class_weight={"spam": 2.0, "ham": 1.0}, sample_weight=rows, verbose=0
    )
    weights = rows * [2, 1, 1, 2, 1, 1]
    assert np.abs(slope(classifier, LABELS, weights)).max() < 2e-2


def test_containers_and_streams_give_the_same(make):
    expected = make(ngrams=True)
    expected.fit(TEXTS, LABELS, verbose=0)
    predicted = expected.predict(TEXTS, verbose=0)
    dataset = tf.data.Dataset.from_tensor_slices((TEXTS, LABELS))
    for x in (dataset, dataset.batch(4), dataset.batch(2).repeat()):
        classifier = make(ngrams=True)
        steps = {"steps_per_epoch": 3} if x.cardinality() < 0 else {}
        classifier.fit(x, verbose=0, **steps)
        np.testing.assert_allclose(classifier.predict(TEXTS, verbose=0), predicted, atol=1e-4)
    classifier = make(ngrams=True)
    classifier.fit([text.split() for text in TEXTS], LABELS, verbose=0)
    np.testing.assert_allclose(classifier.predict(TEXTS, verbose=0), predicted, atol=1e-4)


def test_a_second_fit_solves_anew_with_the_first_statistics(make):
    classifier = make(ngrams=True)
    classifier.fit(TEXTS, LABELS, verbose=0)
    mean, idf = classifier.standardization.mean.numpy(), classifier.characters.idf.numpy()
    first = classifier.predict(TEXTS, verbose=0)
    classifier.fit(TEXTS[:4], LABELS[:4], verbose=0)
    assert np.abs(classifier.predict(TEXTS, verbose=0) - first).max() > 1e-3
    np.testing.assert_array_equal(classifier.standardization.mean, mean)
    np.testing.assert_array_equal(classifier.characters.idf, idf)


@pytest.mark.parametrize("as_dataset", [False, True])
def test_callbacks_and_history_see_one_epoch(make, as_dataset):
    seen = []
    callback = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: seen.append((epoch, dict(logs)))
    )
    validation = (TEXTS[:2], ["ham", "ham"])
    if as_dataset:
        validation = tf.data.Dataset.from_tensor_slices(validation).batch(1)
    classifier = make()
    history = classifier.fit(
        TEXTS, LABELS, callbacks=[callback], validation_data=validation, verbose=0
    )
    assert seen == [(0, {name: values[0] for name, values in history.history.items()})]
    assert history.history["accuracy"] == [1.0]
    assert history.history["val_accuracy"] == [0.5]
    loss, _ = classifier.evaluate(TEXTS, LABELS, verbose=0)
    assert history.history["loss"] == pytest.approx([loss])


def test_a_part_of_the_rows_validates(make):
    history = make().fit(TEXTS, LABELS, validation_split=0.3, verbose=0).history
    assert set(history) == {"loss", "accuracy", "val_loss", "val_accuracy"}


def test_nothing_else_is_changed(make):
    classifier = make(ngrams=True)
    classifier.fit(TEXTS, LABELS, verbose=0)
    mix = classifier.embedding
    np.testing.assert_allclose(mix.layer_weights, [1 / 3] * 3)
    assert float(mix.gamma) == 1.0
    names = {weight.name for weight in classifier.head.weights}
    assert names == {"kernel", "ngram_kernel", "bias"}


def test_saved_it_is_the_same(make, tmp_path):
    classifier = make(ngrams=True)
    classifier.fit(TEXTS, LABELS, verbose=0)
    classifier.save(tmp_path / "model.keras")
    loaded = TextClassifier.load(tmp_path / "model.keras")
    assert (loaded.logistic, loaded.ngrams) == (True, True)
    texts = [*TEXTS, "", "win win 77"]
    np.testing.assert_allclose(
        loaded.predict(texts, verbose=0), classifier.predict(texts, verbose=0), atol=1e-6
    )


def test_an_empty_text_gets_an_answer(make):
    classifier = make(ngrams=True)
    classifier.fit([*TEXTS, ""], [*LABELS, "ham"], verbose=0)
    assert np.isfinite(classifier.predict(["", "   "], verbose=0)).all()


def test_what_has_no_meaning_is_refused(make, make_tiny_bilm):
    with pytest.raises(ValueError, match="`ngrams=True` goes with `logistic=True`"):
        TextClassifier(make_tiny_bilm(), ngrams=True)
    with pytest.raises(ValueError, match="leaves the biLM as it is"):
        make(fine_tune=True)
    for option in ({"hidden_units": 8}, {"dropout": 0.5}, {"average_weights": False}):
        with pytest.raises(ValueError, match=f"{next(iter(option))}.* have no meaning"):
            make(**option)
    classifier = make()
    with pytest.raises(ValueError, match="`epochs` must be 1 .* Received: epochs=3"):
        classifier.fit(TEXTS, LABELS, epochs=3)
    with pytest.raises(ValueError, match="`initial_epoch` has no meaning"):
        classifier.fit(TEXTS, LABELS, initial_epoch=1)
    with pytest.raises(ValueError, match="`steps_per_epoch` has no meaning"):
        classifier.fit(TEXTS, LABELS, steps_per_epoch=1)
    assert classifier.labels is None
    classifier = make(3, classes=["ham", "other", "spam"])
    with pytest.raises(ValueError, match="a text of every class .* none of class 'other'"):
        classifier.fit(TEXTS, LABELS, verbose=0)
