import numpy as np
import tensorflow as tf

from keras_elmo.layers.sequences import drop_boundaries, masked_mean, reverse_sequences


def test_reverse_leaves_padding_where_it_is():
    x = tf.constant([[[1.0], [2.0], [3.0]], [[4.0], [0.0], [0.0]], [[0.0], [0.0], [0.0]]])
    lengths = tf.constant([3, 1, 0])
    reversed_once = reverse_sequences(x, lengths)
    assert reversed_once[..., 0].numpy().tolist() == [[3, 2, 1], [4, 0, 0], [0, 0, 0]]
    np.testing.assert_array_equal(reverse_sequences(reversed_once, lengths), x)


def test_masked_mean_counts_valid_positions_only():
    x = tf.constant([[[2.0], [4.0], [90.0]], [[1.0], [1.0], [1.0]]])
    mask = tf.constant([[True, True, False], [False, False, False]])
    assert masked_mean(x, mask).numpy().tolist() == [[3.0], [0.0]]


def test_drop_boundaries_clears_the_end_of_shorter_rows():
    layers = tf.reshape(tf.range(1.0, 9.0), (2, 1, 4, 1))
    mask = tf.constant([[True] * 4, [True, True, True, False]])
    words, word_mask = drop_boundaries(layers, mask)
    assert words[:, 0, :, 0].numpy().tolist() == [[2.0, 3.0], [6.0, 0.0]]
    assert word_mask.numpy().tolist() == [[True, True], [True, False]]
