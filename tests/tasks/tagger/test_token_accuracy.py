import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.tasks.tagger.token_accuracy import TokenAccuracy

# Classes 0, 1, 1 and 1, 0, 0 are predicted.
PREDICTED = np.eye(2, dtype=np.float32)[[[0, 1, 1], [1, 0, 0]]]


def with_mask(mask):
    predicted = tf.constant(PREDICTED)
    predicted._keras_mask = tf.constant(mask)
    return predicted


def test_mean_over_tokens_by_hand():
    metric = TokenAccuracy()
    mask = [[True, True, True], [True, False, False]]
    metric.update_state([[0, 0, 1], [1, 1, 1]], with_mask(mask))  # 3 of 4
    assert float(metric.result()) == 0.75
    metric.update_state([[1, 7, 7], [7, 7, 7]], with_mask([[True, False, False], [False] * 3]))
    assert float(metric.result()) == pytest.approx(3 / 5)  # and 0 of 1


def test_all_positions_count_without_a_mask():
    metric = TokenAccuracy()
    metric.update_state([[0, 0, 1], [1, 1, 1]], PREDICTED)
    assert float(metric.result()) == pytest.approx(3 / 6)


def test_weights_are_taken():
    metric = TokenAccuracy()
    weights = [[3.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    metric.update_state([[0, 0, 1], [1, 1, 1]], with_mask([[True] * 3] * 2), weights)
    assert float(metric.result()) == 0.75
    metric.reset_state()
    metric.update_state([[0, 0, 1], [1, 1, 1]], with_mask([[True] * 3] * 2), [[1.0], [0.0]])
    assert float(metric.result()) == pytest.approx(2 / 3)


def test_no_token_is_zero():
    metric = TokenAccuracy()
    metric.update_state([[0, 0, 1], [1, 1, 1]], with_mask([[False] * 3] * 2))
    assert float(metric.result()) == 0.0


def test_config_makes_a_twin():
    twin = TokenAccuracy.from_config(TokenAccuracy(name="a").get_config())
    assert twin.name == "a"
