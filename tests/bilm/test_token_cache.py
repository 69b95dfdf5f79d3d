import numpy as np
import tensorflow as tf

from keras_elmo.bilm.token_cache import TokenVectorCache

ANY_ORDER = 1e-6


def check(cache, bilm, words):
    vectors, rows = cache.table(tf.constant(words, tf.string))
    expected, expected_rows = bilm.token_table(tf.constant(words, tf.string))
    np.testing.assert_array_equal(rows, expected_rows)
    np.testing.assert_allclose(vectors, expected, atol=ANY_ORDER)


def test_only_new_words_are_encoded(tiny_bilm):
    cache = TokenVectorCache(tiny_bilm, capacity=10)
    check(cache, tiny_bilm, ["see", "you", "see"])
    assert cache.n_encoded == 2
    check(cache, tiny_bilm, ["you", "한국어", "see"])
    assert cache.n_encoded == 3
    check(cache, tiny_bilm, [])
    assert (cache.n_encoded, len(cache)) == (3, 3)


def test_the_word_asked_for_longest_ago_makes_room(tiny_bilm):
    cache = TokenVectorCache(tiny_bilm, capacity=3)
    check(cache, tiny_bilm, ["a", "b", "c"])
    check(cache, tiny_bilm, ["a"])
    check(cache, tiny_bilm, ["d"])  # takes the place of b
    assert (cache.n_encoded, len(cache)) == (4, 3)
    check(cache, tiny_bilm, ["a", "c", "d"])
    assert cache.n_encoded == 4
    check(cache, tiny_bilm, ["b"])
    assert cache.n_encoded == 5


def test_more_words_at_once_than_it_holds(tiny_bilm):
    cache = TokenVectorCache(tiny_bilm, capacity=3)
    check(cache, tiny_bilm, ["a", "b"])
    check(cache, tiny_bilm, [f"w{k}" for k in range(8)])
    assert len(cache) == 3
    check(cache, tiny_bilm, ["w7", "w6", "w5"])
    assert cache.n_encoded == 10


def test_words_that_share_their_spelled_bytes_are_one(tiny_bilm):
    cache = TokenVectorCache(tiny_bilm, capacity=3)
    check(cache, tiny_bilm, ["x" * 48 + "y", "x" * 48 + "z"])
    assert cache.n_encoded == 1
