import keras
import numpy as np
import pytest

from keras_elmo.tasks.standardize import Standardize

ROWS = np.array([[1.0, 5.0, 10.0], [3.0, 5.0, 30.0], [5.0, 5.0, 20.0], [7.0, 5.0, 40.0]])


def test_it_changes_nothing_before_adapt():
    layer = Standardize()
    np.testing.assert_array_equal(layer(ROWS.astype("float32")), ROWS)
    assert not layer.adapted


def test_statistics_by_hand():
    layer = Standardize()
    layer.adapt([ROWS[:3], ROWS[3:], ROWS[:0]])
    np.testing.assert_allclose(layer.mean, [4.0, 5.0, 25.0])
    np.testing.assert_allclose(layer.variance, [5.0, 1.0, 125.0])  # 1 where constant
    expected = (ROWS - [4.0, 5.0, 25.0]) / np.sqrt([5.0, 1.0, 125.0])
    np.testing.assert_allclose(layer(ROWS.astype("float32")), expected, atol=1e-6)
    assert layer.adapted


def test_batching_and_order_do_not_change_the_statistics():
    x = np.random.default_rng(0).normal(100.0, 0.01, (50, 3))
    whole, parts = Standardize(), Standardize()
    whole.adapt([x])
    parts.adapt([x[40:], x[:7], x[7:40]])
    np.testing.assert_allclose(parts.variance, x.var(axis=0), rtol=1e-6)
    np.testing.assert_allclose(parts.variance, whole.variance, rtol=1e-6)


def test_a_constant_feature_does_not_blow_up_elsewhere():
    layer = Standardize()
    layer.adapt([np.full((1000, 1), 0.1, np.float32)])
    assert abs(float(layer(np.array([[0.101]], np.float32))[0, 0])) < 0.01


def test_statistics_are_saved_and_never_trained(tmp_path):
    model = keras.Sequential([keras.Input((3,)), Standardize()])
    model.layers[0].adapt([ROWS])
    model.save(tmp_path / "m.keras")
    loaded = keras.models.load_model(tmp_path / "m.keras")
    assert loaded.layers[0].adapted
    assert loaded.layers[0].trainable_weights == []
    np.testing.assert_allclose(loaded(ROWS), model(ROWS))


def test_half_precision_policy_computes_in_float32():
    layer = Standardize(dtype="mixed_bfloat16")
    layer.adapt([np.array([[1000.0], [1001.0]])])
    out = layer(np.array([[1000.0], [1001.0]], np.float32))
    assert keras.backend.standardize_dtype(out.dtype) == "bfloat16"
    np.testing.assert_allclose(np.asarray(out, "float32"), [[-1.0], [1.0]])


def test_no_rows_is_an_error():
    with pytest.raises(ValueError, match="at least one row"):
        Standardize().adapt([])
