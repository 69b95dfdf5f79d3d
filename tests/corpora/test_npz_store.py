import json
import zipfile

import numpy as np
import pytest

from keras_elmo.corpora.journaled_file import JournaledFile
from keras_elmo.corpora.npz_store import NpzStore


def arrays_of(n, dtype="float32"):
    rng = np.random.default_rng(n)
    return [rng.normal(size=(3, k % 4, 5)).astype(dtype) for k in range(n)]


def write(place, arrays, order=None, facts=None, stop_after=None):
    """Writes arrays in an order, with a kill after some of them and a second start."""
    order = range(len(arrays)) if order is None else order
    with JournaledFile(place / "it.partial") as file:
        store = NpzStore(file, is_new=True)
        for k in order[:stop_after]:
            store.add(k, arrays[k], "")
        file.commit({})
        if stop_after is not None:
            store.add(99, arrays[0], "")
            file.close()
            file = JournaledFile(place / "it.partial")
            store = NpzStore(file, is_new=False)
            for k in order[stop_after:]:
                store.add(k, arrays[k], "")
        store.finish(facts or {}, None)
        store.close()
        file.commit({})
        file.publish(place / "it.npz")
    return place / "it.npz"


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_numpy_reads_it(tmp_path, dtype):
    arrays = arrays_of(12, dtype)
    with np.load(write(tmp_path, arrays), allow_pickle=False) as found:
        assert found.files == [str(k) for k in range(12)]
        for k, array in enumerate(arrays):
            assert found[str(k)].dtype == dtype
            np.testing.assert_array_equal(found[str(k)], array)


def test_directory_is_in_line_order_whatever_came_first(tmp_path):
    arrays = arrays_of(6)
    with np.load(write(tmp_path, arrays, order=[2, 0, 1, 5, 4, 3])) as found:
        assert found.files == ["0", "1", "2", "3", "4", "5"]
        np.testing.assert_array_equal(found["5"], arrays[5])


def test_archive_is_whole_and_holds_the_facts(tmp_path):
    path = write(tmp_path, arrays_of(5), facts={"lines": 5})
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None  # every checksum is right
        assert json.loads(archive.comment) == {"lines": 5}
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_gone_on_with_it_has_the_same_bytes(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    arrays = arrays_of(7)
    one = write(tmp_path / "one", arrays)
    two = write(tmp_path / "two", arrays, stop_after=3)
    assert one.read_bytes() == two.read_bytes()


def test_no_lines_are_an_empty_archive(tmp_path):
    with np.load(write(tmp_path, [])) as found:
        assert found.files == []


def test_more_arrays_than_a_small_archive_can_count(tmp_path):
    array = np.zeros(1, np.float16)
    with np.load(write(tmp_path, [array] * 65_537)) as found:
        assert len(found.files) == 65_537
        assert found["65536"].shape == (1,)
