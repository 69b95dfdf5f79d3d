"""Texts and tokens, lists and datasets reach one graph, from any number of threads."""

import concurrent.futures

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.tasks.classifier.text_classifier import TextClassifier
from keras_elmo.tasks.pooling import SequencePooling

TEXTS = ["free entry now", "ok lar", "see you at 8", "win", ""]
TOKENS = [text.split() for text in TEXTS]
LABELS = ["spam", "ham", "ham", "spam", "ham"]


def make(bilm, **options):
    keras.utils.set_random_seed(0)
    return TextClassifier(bilm, hidden_units=8, classes=["ham", "spam"], **options)


def forms():
    """The same texts in forms that differ in rank, container and kind."""
    texts = tf.data.Dataset.from_tensor_slices(TEXTS)
    return [
        TEXTS,
        TOKENS,
        np.array(TEXTS)[:, None],
        tf.ragged.constant(TOKENS, tf.string, ragged_rank=1),
        texts,
        texts.batch(3),
        tf.data.Dataset.from_tensors(tf.ragged.constant(TOKENS, tf.string, ragged_rank=1)),
    ]


@pytest.fixture
def traces(monkeypatch):
    """A list that grows with each graph that a classifier is traced in."""
    found = []
    call = SequencePooling.call

    def counting(layer, inputs, mask=None):
        if not tf.executing_eagerly():
            found.append(1)
        return call(layer, inputs, mask)

    monkeypatch.setattr(SequencePooling, "call", counting)
    return found


def test_forms_in_turn_are_equal_and_traced_no_further(make_tiny_bilm, traces):
    classifier = make(make_tiny_bilm(), standardize=False)
    expected = classifier.predict(TEXTS, verbose=0)
    classifier.predict(TEXTS[:1], verbose=0)  # Keras traces for one size, then for any
    for x in forms():
        np.testing.assert_allclose(classifier.predict(x, verbose=0), expected, atol=1e-6)
    assert len(traces) == 2
    labelled = tf.data.Dataset.from_tensor_slices((TEXTS, LABELS))
    data = [(TEXTS, LABELS), (labelled,), (TOKENS, LABELS), (labelled.batch(2),)]
    losses = [classifier.evaluate(*d, verbose=0)[0] for d in data]
    np.testing.assert_allclose(losses, losses[0], atol=1e-6)
    assert len(traces) == 4
    for d in data:
        classifier.fit(*d, feature_cache=False, verbose=0)
    assert len(traces) == 6


def test_threads_with_texts_and_tokens_are_as_one_after_the_other(make_tiny_bilm):
    bilm = make_tiny_bilm()
    expected = make(bilm).predict(TEXTS, verbose=0)
    classifier = make(bilm)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for _ in ("cold", "warm"):
            calls = [pool.submit(classifier.predict, x, verbose=0) for x in 4 * [TEXTS, TOKENS]]
            for call in calls:
                np.testing.assert_allclose(call.result(), expected, atol=1e-6)
    assert classifier.predict_labels(TOKENS, verbose=0).shape == (5,)


def test_empty_tokens_within_their_length_count(make_tiny_bilm):
    classifier = make(make_tiny_bilm(), standardize=False)
    classifier.compile("sgd", "binary_crossentropy", run_eagerly=True)
    padded = {"tokens": np.array([["a", "", "b"]]), "sequence_len": [3]}
    expected = classifier.embedding(padded).numpy()[0]
    pooled = np.concatenate([expected.mean(axis=0), expected.max(axis=0)])
    expected = classifier.head(pooled[None])
    np.testing.assert_allclose(classifier.predict(padded, verbose=0), expected, atol=1e-5)
