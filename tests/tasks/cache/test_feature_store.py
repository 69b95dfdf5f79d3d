import os

import numpy as np
import pytest

from keras_elmo.tasks.cache import feature_store
from keras_elmo.tasks.cache.feature_store import FeatureStore

ROWS = np.arange(30, dtype=np.float32).reshape(5, 2, 3)


def make(directory=None, most_bytes=10**6, dtype="float32"):
    return FeatureStore((2, 3), dtype, most_bytes, directory)


def check(store):
    rows, lengths = store.get([b"b", b"a", b"", b"b"])
    np.testing.assert_array_equal(rows, np.concatenate([ROWS[3:], ROWS[:3], ROWS[3:]]))
    assert lengths.tolist() == [2, 3, 0, 2]


def test_gives_what_was_put(tmp_path):
    for store in (make(), make(tmp_path)):
        assert store.missing([b"a", b"b", b"a", b""]).tolist() == [0, 1, 3]
        store.put([b"a", b"b", b""], ROWS, [3, 2, 0])
        assert store.missing([b"a", b"c"]).tolist() == [1]
        check(store)
        with pytest.raises(KeyError):
            store.get([b"c"])
        rows, lengths = store.get([])
        assert (rows.shape, lengths.shape) == ((0, 2, 3), (0,))


def test_files_serve_the_next_store(tmp_path):
    first = make(tmp_path)
    first.put([b"a"], ROWS[:3], [3])
    first.flush()
    check_size = first.n_bytes
    first.put([b"b", b""], ROWS[3:], [2, 0])
    assert make(tmp_path).missing([b"a", b"b"]).tolist() == [1]
    first.flush()
    first.flush()
    assert (check_size, first.n_bytes) == (3 * 24, 5 * 24)
    check(first)
    second = make(tmp_path)
    check(second)
    assert len(second) == 3


def test_full_memory_goes_to_files(tmp_path, monkeypatch):
    monkeypatch.setattr(feature_store, "PART_BYTES", 4 * 24)
    store = make(tmp_path)
    store.put([b"a"], ROWS[:3], [3])
    assert os.listdir(tmp_path) == []
    store.put([b"b", b""], ROWS[3:], [2, 0])
    assert len(os.listdir(tmp_path)) == 2
    check(store)


def test_two_stores_do_not_disturb_each_other(tmp_path):
    one, other = make(tmp_path), make(tmp_path)
    one.put([b"a", b"b"], ROWS, [3, 2])
    other.put([b"b", b""], ROWS[3:], [2, 0])
    one.flush()
    other.flush()
    check(make(tmp_path))


def test_files_follow_the_umask(tmp_path):
    store = make(tmp_path)
    store.put([b"a"], ROWS[:3], [3])
    store.flush()
    plain = tmp_path / "plain"
    plain.touch()
    assert {path.stat().st_mode for path in tmp_path.iterdir()} == {plain.stat().st_mode}


@pytest.mark.parametrize("damage", ["cut rows", "cut index", "other shape", "no rows"])
def test_a_damaged_part_counts_as_absent(damage, tmp_path):
    store = make(tmp_path)
    store.put([b"a"], ROWS[:3], [3])
    store.flush()
    rows, index = (next(tmp_path.glob(pattern)) for pattern in ("*.rows.npy", "*.index.npz"))
    if damage == "no rows":
        rows.unlink()
    elif damage == "other shape":
        np.save(rows, ROWS[:2])
    else:
        path = rows if damage == "cut rows" else index
        path.write_bytes(path.read_bytes()[:-20])
    assert make(tmp_path).missing([b"a"]).tolist() == [0]


def test_what_does_not_fit_is_given_beside():
    store = make(most_bytes=3 * 24)
    assert store.put([b"a"], ROWS[:3], [3])
    assert not store.put([b"b", b""], ROWS[3:], [2, 0])
    rows, lengths = store.get([b"b", b"a", b""], {b"b": ROWS[3:], b"": ROWS[:0]})
    np.testing.assert_array_equal(rows, np.concatenate([ROWS[3:], ROWS[:3]]))
    assert lengths.tolist() == [2, 3, 0]
    assert store.missing([b"a", b"b"]).tolist() == [1]
    assert store.n_bytes == 3 * 24


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    store = make(tmp_path)
    store.put([b"a", b"b", b""], ROWS, [3, 2, 0])
    monkeypatch.setattr(np, "savez", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.flush()
    assert list(tmp_path.iterdir()) == []
    check(store)


def test_half_precision(tmp_path):
    store = make(tmp_path, dtype="float16")
    store.put([b"a"], ROWS[:3], [3])
    assert store.get([b"a"])[0].dtype == np.float16
    store.flush()
    assert make(tmp_path).missing([b"a"]).tolist() == [0]
