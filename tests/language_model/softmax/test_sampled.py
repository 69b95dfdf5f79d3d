"""The sampled loss against cases worked by hand, and against the exact one."""

import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.language_model.softmax.full import FullSoftmax
from keras_elmo.language_model.softmax.sampled import SampledSoftmax

TARGETS = np.array([0, 4, 2, 19, 1, 7], np.int32)


def seed(number):
    return tf.constant([number, 3])


@tf.function
def draws(softmax, n_seeds):
    """Words `(n_seeds, n_samples)` and times `(n_seeds,)` of many draws."""
    seeds = tf.stack([tf.range(n_seeds), tf.fill([n_seeds], 3)], axis=1)
    return tf.map_fn(softmax.draw, seeds, fn_output_signature=(tf.int32, tf.float32))


def zipf(size):
    words = np.arange(size)
    return np.log((words + 2) / (words + 1)) / np.log(size + 1)


def test_loss_by_hand(monkeypatch):
    # One vector h = 2, rows 1, 0, -1, 3, biases 0, 1, 0, 0: logits 2, 1, -2, 6. Words 1 and 3 are
    # drawn, and word w is drawn with probability Q_w = 1/2, 1/4, 1/5, 1/8.
    softmax = SampledSoftmax(4, 1, n_samples=2)
    softmax.set_rows(np.array([[1.0], [0.0], [-1.0], [3.0]]), np.array([0.0, 1.0, 0.0, 0.0]))
    monkeypatch.setattr(softmax, "draw", lambda seed: (tf.constant([1, 3]), 0.0))
    inclusion = tf.math.log([1 / 2, 1 / 4, 1 / 5, 1 / 8])
    monkeypatch.setattr(softmax, "log_inclusion", lambda ids, time: tf.gather(inclusion, ids))
    e = np.exp
    expected = [
        -np.log(2 * e(2.0) / (2 * e(2.0) + 4 * e(1.0) + 8 * e(6.0))),
        -np.log(4 * e(1.0) / (4 * e(1.0) + 8 * e(6.0))),  # drawn itself: counted once
        -np.log(5 * e(-2.0) / (5 * e(-2.0) + 4 * e(1.0) + 8 * e(6.0))),
    ]
    found = softmax(
        np.full((3, 1), 2.0, np.float32), targets=np.array([0, 1, 2], np.int32), seed=seed(0)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_one_word_is_drawn_by_the_law_of_zipf():
    ids, _ = draws(SampledSoftmax(5, 1, n_samples=1), 3000)
    found = np.bincount(ids[:, 0].numpy(), minlength=5) / 3000
    # Standard error below 0.01; log(2), log(3/2), log(4/3), log(5/4), log(6/5) over log(6).
    np.testing.assert_allclose(found, [0.387, 0.226, 0.161, 0.125, 0.102], atol=0.03)


def test_words_are_distinct_and_drawn_as_often_as_the_correction_says():
    softmax = SampledSoftmax(30, 1, n_samples=10)
    ids, times = (values.numpy() for values in draws(softmax, 3000))
    assert ids.shape == (3000, 10)
    assert all(len(set(row)) == 10 for row in ids.tolist())
    inclusion = np.exp(softmax.log_inclusion(ids, times[:, np.newaxis]))
    np.testing.assert_allclose(inclusion, 1 - np.exp(-times[:, np.newaxis] * zipf(30)[ids]), 1e-4)
    # One over Q_w for a word that is drawn, 0 for one that is not: 1 in the mean.
    weights = np.bincount(ids.ravel(), weights=1 / inclusion.ravel(), minlength=30) / 3000
    np.testing.assert_allclose(weights, 1.0, atol=0.2)


def test_loss_nears_the_exact_one_with_more_samples(random_weights, make_hidden):
    h = make_hidden()
    full = random_weights(FullSoftmax(500, 8), scale=0.5)
    exact = full(h, targets=TARGETS).numpy()
    errors = []
    for n_samples in (5, 100, 490):
        softmax = SampledSoftmax(500, 8, n_samples=n_samples)
        softmax.set_rows(*full.rows())
        losses = [softmax(h, targets=TARGETS, seed=seed(number)) for number in range(30)]
        errors.append(np.abs(np.mean(losses, axis=0) - exact).max())
    assert errors[0] > 2 * errors[1] > 4 * errors[2]
    assert errors[2] < 0.02, errors


def test_loss_of_the_whole_vocabulary_is_the_exact_one(random_weights, make_hidden):
    softmax = random_weights(SampledSoftmax(20, 8, n_samples=50))
    assert softmax.n_samples == 20
    h = make_hidden()
    seeded = softmax(h, targets=TARGETS, seed=seed(0))
    np.testing.assert_array_equal(seeded, softmax(h, targets=TARGETS))


def test_loss_is_a_function_of_the_seed(random_weights, make_hidden):
    softmax = random_weights(SampledSoftmax(20, 8, n_samples=5))
    h = make_hidden()
    first = softmax(h, targets=TARGETS, seed=seed(0)).numpy()
    in_graph = tf.function(lambda s: softmax(h, targets=TARGETS, seed=s))
    np.testing.assert_array_equal(softmax(h, targets=TARGETS, seed=seed(0)), first)
    np.testing.assert_allclose(in_graph(seed(0)), first, rtol=1e-5)
    assert np.abs(softmax(h, targets=TARGETS, seed=seed(1)).numpy() - first).min() > 1e-3


def test_evaluation_is_exact(random_weights, make_hidden):
    softmax = random_weights(SampledSoftmax(20, 8, n_samples=5))
    full = FullSoftmax(20, 8)
    full.set_rows(*softmax.rows())
    h = make_hidden()
    np.testing.assert_allclose(
        softmax(h, targets=TARGETS), full(h, targets=TARGETS), rtol=1e-5, atol=1e-5
    )
    log_probabilities = softmax.log_probabilities(h).numpy()
    np.testing.assert_allclose(log_probabilities, full.log_probabilities(h), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(np.exp(log_probabilities).sum(1), 1.0, atol=1e-5)


def test_gradient_reaches_targets_and_drawn_words_only(random_weights, make_hidden):
    softmax = random_weights(SampledSoftmax(20, 8, n_samples=5))
    h = tf.constant(make_hidden())
    with tf.GradientTape() as tape:
        tape.watch(h)
        loss = tf.reduce_mean(softmax(h, targets=TARGETS, seed=seed(0)))
    of_h, of_w, of_b = tape.gradient(loss, [h, softmax.W.value, softmax.b.value])
    assert isinstance(of_w, tf.IndexedSlices)  # only these rows are read and updated
    touched = set(TARGETS.tolist()) | set(softmax.draw(seed(0))[0].numpy().tolist())
    for gradient in (tf.convert_to_tensor(of_w).numpy(), tf.convert_to_tensor(of_b).numpy()):
        assert np.isfinite(gradient).all()
        nonzero = {word for word in range(20) if np.abs(gradient[word]).max() > 0}
        assert nonzero == touched
    assert np.isfinite(of_h).all() and np.abs(of_h).max() > 0


def test_products_in_half_precision_stay_near(random_weights, make_hidden):
    softmax = random_weights(SampledSoftmax(20, 8, n_samples=5))
    half = SampledSoftmax(20, 8, n_samples=5, dtype="mixed_bfloat16")
    half.set_rows(*softmax.rows())
    h = make_hidden()
    loss = half(h, targets=TARGETS, seed=seed(0))
    assert loss.dtype == tf.float32
    np.testing.assert_allclose(loss, softmax(h, targets=TARGETS, seed=seed(0)), atol=0.1)


@pytest.mark.parametrize(
    ("vocabulary_size", "n_samples"), [(5, 1), (20_000, 2000), (800_000, 8192)]
)
def test_default_number_of_samples(vocabulary_size, n_samples):
    assert SampledSoftmax(vocabulary_size, 1).n_samples == n_samples


def test_no_samples_are_an_error():
    with pytest.raises(ValueError, match="`n_samples` must be at least 1. Received: 0"):
        SampledSoftmax(20, 8, n_samples=0)
