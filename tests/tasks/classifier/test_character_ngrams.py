import numpy as np
import pytest
import tensorflow as tf
from sklearn.feature_extraction.text import TfidfVectorizer

from keras_elmo.tasks.classifier.character_ngrams import CharacterNGrams

TRAIN = ["free entry now", "call 0800 now now", "Straße nach Köln", "ok"]
OTHERS = ["FREE call", "call 1234", "", "zzz", "한국어 now"]


def rows(texts):
    return tf.ragged.constant([text.split() for text in texts], dtype=tf.string, ragged_rank=1)


def adapted():
    layer = CharacterNGrams()
    assert not layer.adapted
    layer.adapt([rows(TRAIN[:3]), rows(TRAIN[3:])])
    assert layer.adapted
    return layer


def dense(vectors):
    return tf.sparse.to_dense(tf.sparse.reorder(vectors)).numpy()


def test_products_equal_those_of_scikit_learn():
    layer = adapted()
    reference = TfidfVectorizer(analyzer="char", ngram_range=(1, 5), sublinear_tf=True)
    with_zeros = [text.replace("0800", "0000").replace("1234", "0000") for text in TRAIN + OTHERS]
    expected = reference.fit(with_zeros[:4]).transform(with_zeros).toarray()
    found = dense(layer(rows(TRAIN + OTHERS)))
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-5)


def test_case_digits_and_spaces_do_not_count():
    layer = adapted()
    first, second = dense(layer(rows(["call  0800 NOW", "Call 9999 now"])))
    np.testing.assert_array_equal(first, second)


def test_rows_have_the_length_1_or_share_nothing():
    lengths = np.linalg.norm(dense(adapted()(rows([*TRAIN, "", "zzz"]))), axis=1)
    np.testing.assert_allclose(lengths, [1, 1, 1, 1, 0, 0], atol=1e-6)


@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
def test_no_text_gives_no_row(texts):
    assert dense(adapted()(rows(texts))).shape == (len(texts), 1 << 18)


def test_bytes_that_are_no_utf_8_do_not_stop_it():
    tokens = tf.ragged.constant([[b"caf\xe9", b"now"]])
    assert np.isfinite(dense(adapted()(tokens))).all()


def test_in_a_graph_it_is_the_same():
    layer = adapted()
    graph = tf.function(lambda tokens: layer(tokens), reduce_retracing=True)
    for texts in (TRAIN, OTHERS):
        np.testing.assert_allclose(dense(graph(rows(texts))), dense(layer(rows(texts))), atol=1e-6)
