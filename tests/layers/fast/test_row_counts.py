"""Rows are padded to few numbers."""

import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.layers.fast.row_counts import pad_rows


@pytest.mark.parametrize(
    "rows, padded",
    [(0, 1), (1, 1), (33, 33), (63, 63), (64, 64), (65, 66), (750, 752), (770, 784), (1024, 1024)],
)
def test_up_to_32_numbers_an_octave(rows, padded):
    x = tf.reshape(tf.range(rows * 6), (rows, 2, 3))
    for found in (pad_rows(x), tf.function(pad_rows)(x)):
        assert found.shape == (padded, 2, 3)
        np.testing.assert_array_equal(found[:rows], x)
        assert not np.any(found[rows:])


def test_batches_share_shapes():
    shapes = {int(pad_rows(tf.zeros((n, 1))).shape[0]) for n in range(512, 1024)}
    assert len(shapes) == 33


def test_of_one_axis():
    assert pad_rows(tf.ones((65,), tf.int64)).numpy().tolist() == [1] * 65 + [0]
