import os
import resource

import numpy as np
import pytest

from keras_elmo.pretraining.checkpoint import Checkpoint, Checkpoints


def checkpoint(step, size=1000):
    rng = np.random.default_rng(step)
    arrays = {
        "bilm/CNN/W_cnn_0": rng.normal(size=(3, size)).astype(np.float32),
        "lanes/lines": np.arange(4),
    }
    return Checkpoint(step, arrays, {"options": {"steps": 9}, "best": 3.5, "한": "글"})


def assert_equal(one, other):
    assert (one.step, one.notes) == (other.step, other.notes)
    assert one.arrays.keys() == other.arrays.keys()
    for name, value in one.arrays.items():
        np.testing.assert_array_equal(value, other.arrays[name])
        assert value.dtype == other.arrays[name].dtype


def test_newest_of_none(tmp_path):
    assert Checkpoints(tmp_path / "none").newest() == (None, [])


def test_round_trip_and_the_last_few_are_kept(tmp_path):
    checkpoints = Checkpoints(tmp_path / "here", keep=2)
    for step in (5, 100, 2_000_000_000):
        checkpoints.save(checkpoint(step))
    assert [path.name for path in checkpoints.paths()] == [
        "step-000000100.npz",
        "step-2000000000.npz",
    ]
    newest, damaged = checkpoints.newest()
    assert_equal(newest, checkpoint(2_000_000_000))
    assert damaged == []


def flip_a_bit(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)


DAMAGES = {
    "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "emptied": lambda path: os.truncate(path, 0),
    "bit flipped": flip_a_bit,
    "no zip": lambda path: path.write_text("hello"),
    "notes missing": lambda path: np.savez(path, a=np.zeros(3)),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_newest_falls_back_and_is_named(tmp_path, damage):
    checkpoints = Checkpoints(tmp_path)
    checkpoints.save(checkpoint(1))
    checkpoints.save(checkpoint(2))
    DAMAGES[damage](checkpoints.paths()[-1])
    newest, damaged = checkpoints.newest()
    assert_equal(newest, checkpoint(1))
    ((path, reason),) = damaged
    assert path.name == "step-000000002.npz" and reason


def test_objects_are_never_unpickled(tmp_path):
    checkpoints = Checkpoints(tmp_path)
    np.savez(tmp_path / "step-000000001.npz", notes=np.array([{}], dtype=object))
    newest, damaged = checkpoints.newest()
    assert newest is None and "pickle" in damaged[0][1]


def test_full_disk_keeps_what_was_there(tmp_path):
    checkpoints = Checkpoints(tmp_path)
    checkpoints.save(checkpoint(1))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with pytest.raises(OSError):
            checkpoints.save(checkpoint(2, size=100_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [path.name for path in tmp_path.iterdir()] == ["step-000000001.npz"]
    assert_equal(checkpoints.newest()[0], checkpoint(1))


def test_what_a_killed_process_left_is_removed(tmp_path):
    (tmp_path / ".step.writing").write_text("half")
    (tmp_path / "step-1.npz.bak").write_text("not ours")
    Checkpoints(tmp_path).save(checkpoint(1))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "step-000000001.npz",
        "step-1.npz.bak",
    ]
