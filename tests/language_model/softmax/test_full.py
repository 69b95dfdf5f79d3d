import numpy as np

from keras_elmo.language_model.softmax.full import FullSoftmax


def test_loss_equals_formula(random_weights, make_hidden):
    softmax = random_weights(FullSoftmax(5, 8))
    h = make_hidden()
    targets = np.array([0, 4, 2, 2, 1, 3], np.int32)
    logits = h @ np.asarray(softmax.W) + np.asarray(softmax.b)
    odds = np.exp(logits)
    expected = -np.log(odds[np.arange(6), targets] / odds.sum(1))
    np.testing.assert_allclose(softmax(h, targets=targets), expected, atol=1e-5)


def test_rows_are_the_weights_of_each_word():
    softmax = FullSoftmax(3, 2)
    softmax.W.assign([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    softmax.b.assign([7.0, 8.0, 9.0])
    weights, biases = softmax.rows()
    assert weights.tolist() == [[1, 4], [2, 5], [3, 6]]
    assert biases.tolist() == [7, 8, 9]
    softmax.set_rows(weights + 1, biases + 1)
    assert np.asarray(softmax.W).tolist() == [[2, 3, 4], [5, 6, 7]]
    assert np.asarray(softmax.b).tolist() == [8, 9, 10]
