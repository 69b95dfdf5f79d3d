import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.layers.fast import packing
from keras_elmo.layers.fast.packing import pack


def as_lists(packed):
    return {name: value.numpy().tolist() for name, value in packed._asdict().items()}


def test_by_hand(monkeypatch):
    monkeypatch.setattr(packing, "MOST_ROWS", 2)
    monkeypatch.setattr(packing, "BLOCK_POSITIONS", 3)
    # Sentences a (2 positions), b (3) and c (1): b and a are the first group, c the second.
    packed = as_lists(pack(tf.constant([2, 3, 1])))
    assert packed["order"] == [1, 0, 2]
    assert packed["groups"] == [0, -1, 1]
    assert packed["blocks"] == [0, 2, 3, 4]
    assert packed["sizes"] == [2, 2, 1, 1]
    assert packed["staying"] == [2, 1, 0, 0]
    assert packed["offsets"] == [0, 2, 4, 5]
    # b0 a0 | b1 a1 | b2 || c0, and backward b2 a1 | b1 a0 | b0 || c0.
    assert packed["forward"] == [1, 3, 0, 2, 4, 5]
    assert packed["backward"] == [3, 1, 4, 2, 0, 5]
    assert packed["ends"] == [0, 1, 2]


@pytest.mark.parametrize("seed", range(6))
def test_every_position_has_its_place(seed, monkeypatch):
    monkeypatch.setattr(packing, "MOST_ROWS", 5)
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 12, size=rng.integers(1, 23)).astype(np.int32)
    packed = pack(tf.constant(lengths))
    n = lengths.sum()
    assert sorted(packed.forward.numpy()) == sorted(packed.backward.numpy()) == list(range(n))
    assert packed.sizes.numpy().sum() == n
    assert packed.sizes.numpy().max() <= 5
    steps = np.repeat(np.arange(len(packed.sizes)), packed.sizes)
    flat = np.concatenate([np.arange(length) for length in lengths])
    begins = steps[packed.forward.numpy()] - flat
    for row in np.split(np.arange(n), np.cumsum(lengths)[:-1]):
        assert len(set(begins[row])) == 1
        places = packed.forward.numpy()[row]
        np.testing.assert_array_equal(
            steps[packed.backward.numpy()[row]], steps[places][::-1], strict=True
        )
    assert sorted(packed.ends.numpy()) == list(range(len(lengths)))


def test_no_sentence():
    packed = as_lists(pack(tf.zeros((0,), tf.int32)))
    assert packed.pop("blocks") == [0]
    assert all(values == [] for values in packed.values())
