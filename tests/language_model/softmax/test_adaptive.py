import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.language_model.softmax.adaptive import AdaptiveSoftmax


def softmax_numpy(logits):
    odds = np.exp(logits - logits.max(-1, keepdims=True))
    return odds / odds.sum(-1, keepdims=True)


def test_loss_equals_formula_in_each_cluster(random_weights, make_hidden):
    softmax = random_weights(AdaptiveSoftmax(9, 8, cutoffs=(3, 5)))
    named = {key: np.asarray(value) for key, value in softmax.named_variables().items()}
    h = make_hidden()
    targets = np.array([0, 2, 3, 4, 5, 8], np.int32)
    head = softmax_numpy(h @ named["head/W"] + named["head/b"])
    expected = []
    for row, target in enumerate(targets):
        probability = head[row, target] if target < 3 else 1.0
        for k, (first, last) in enumerate(((3, 5), (5, 9))):
            if first <= target < last:
                below = h[row] @ named[f"P_{k}"]
                tail = softmax_numpy(below @ named[f"tail_{k}/W"] + named[f"tail_{k}/b"])
                probability = head[row, 3 + k] * tail[target - first]
        expected.append(-np.log(probability))
    np.testing.assert_allclose(softmax(h, targets=targets), expected, atol=1e-5)


@pytest.mark.parametrize("cutoffs", [(3, 5), (3,), (9,), (), (100, 200)])
def test_probabilities_are_those_of_the_whole_vocabulary(cutoffs, random_weights, make_hidden):
    softmax = random_weights(AdaptiveSoftmax(9, 8, cutoffs=cutoffs))
    h = make_hidden(9)
    log_probabilities = softmax.log_probabilities(h).numpy()
    np.testing.assert_allclose(np.exp(log_probabilities).sum(1), 1.0, atol=1e-5)
    targets = np.arange(9, dtype=np.int32)
    loss = softmax(h, targets=targets)
    np.testing.assert_allclose(loss, -log_probabilities[np.arange(9), targets], atol=1e-5)


def test_every_weight_learns(random_weights, make_hidden):
    softmax = random_weights(AdaptiveSoftmax(9, 8, cutoffs=(3, 5)))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(softmax(make_hidden(9), targets=np.arange(9, dtype=np.int32)))
    gradients = tape.gradient(loss, [v.value for v in softmax.trainable_variables])
    assert len(gradients) == 8
    assert all(np.abs(tf.convert_to_tensor(g)).max() > 0 for g in gradients)
