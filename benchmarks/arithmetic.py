"""Arithmetic of a biLM's parts, and how fast this machine multiplies matrices."""

import statistics
import time

import numpy as np
import tensorflow as tf

from keras_elmo.layers.char_cnn import LENGTHS

PUBLISHED_FILTERS = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))


def word_flops(config, words):
    """FLOP of encoding one word, forward: the mean over a string tensor of words."""
    n_filters = sum(n for _, n in config.filters)
    window = max(width for width, _ in config.filters) * config.char_dim
    marked = np.minimum(tf.strings.length(words) + 2, config.max_characters_per_token)
    bounds = np.array([*LENGTHS, config.max_characters_per_token])
    windows_a_word = np.mean(np.minimum(bounds[np.searchsorted(bounds, marked)] + 1, bounds[-1]))
    flops = 2 * n_filters * config.projection_dim + 4 * config.n_highway * n_filters**2
    return flops + 2 * windows_a_word * window * n_filters


def lstm_flops(config):
    """FLOP of one position in all LSTM layers of both directions, forward."""
    cell = 4 * config.lstm_dim * 2 * config.projection_dim + config.lstm_dim * config.projection_dim
    return 2 * config.n_layers * 2 * cell


def gemm_rate(precision):
    """FLOP/s of one large product in the products' dtype."""
    dtype = tf.dtypes.as_dtype(precision)
    a = tf.cast(tf.random.stateless_normal((2048, 512), [1, 2]), dtype)
    b = tf.cast(tf.random.stateless_normal((512, 16384), [3, 4]), dtype)
    return 2 * 2048 * 512 * 16384 / time_call(tf.function(lambda: tf.matmul(a, b)))


def time_call(function, runs=15):
    """The median of the seconds of `runs` calls, after one that is not counted."""
    function()
    seconds = []
    for _ in range(runs):
        begin = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds)


def embedding_flops(config, sentences, call_size):
    """FLOP a token of embedding sentences, forward.

    The LSTMs run over each token and the two boundaries of its sentence, the token encoder over the
    distinct words of each call and the two boundaries.

    Returns:
        dict of `lstm_flops`, `encoder_flops`, and `words_per_token`, words encoded a token.
    """
    tokens = sum(map(len, sentences))
    words = []
    for start in range(0, len(sentences), call_size):
        call = sentences[start : start + call_size]
        words += ["", "", *sorted({word for sentence in call for word in sentence})]
    return {
        "lstm_flops": lstm_flops(config) * (tokens + 2 * len(sentences)) / tokens,
        "encoder_flops": float(word_flops(config, tf.constant(words))) * len(words) / tokens,
        "words_per_token": len(words) / tokens,
    }
