import os

import numpy as np
import pytest

from keras_elmo.corpora.partial_output import NOTE, PART, PartialOutput

VECTORS = [np.arange(6, dtype="float16").reshape(2, 3), np.zeros((0, 3), "float16")]


def put_part(partial, *lines):
    with partial.next_part(list(lines), [(2, 3), (0, 3)], "float16") as put:
        put(1, VECTORS[1])
        put(0, VECTORS[0])


@pytest.fixture
def saved(tmp_path):
    """A directory of one part, and the part of a process that ended before it was saved."""
    with_two = PartialOutput(tmp_path / "it")
    with_two.begin({"lines": 0})
    put_part(with_two, "ok", "")
    with_two.save({"lines": 2})
    put_part(with_two, "never", "saved")
    with_two.close()
    return tmp_path / "it"


def test_lines_come_back_in_their_order_as_far_as_they_were_saved(saved):
    partial = PartialOutput(saved)
    assert partial.note == {"lines": 2, "parts": 1}
    put_part(partial, "한국어\0", "!")
    partial.save({"lines": 4})
    found = list(partial.lines())
    assert [line for line, _ in found] == ["ok", "", "한국어\0", "!"]
    for (_, array), expected in zip(found, VECTORS * 2, strict=True):
        assert array.dtype == "float16"
        np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize(
    ("name", "message"),
    [(NOTE, "Received: a damaged file"), (PART.format(0), "Received: without vectors-000000.part")],
)
def test_damage_is_found_and_overwritten_only_when_asked(saved, name, message):
    (saved / name).unlink()
    if name == NOTE:
        (saved / name).write_text('{"lines"')
    with pytest.raises(ValueError, match=f"progress.json must be whole.*{message}.*overwrite=True"):
        PartialOutput(saved)
    assert PartialOutput(saved, overwrite=True).note is None


def test_a_part_that_was_cut_is_told(saved):
    part = saved / PART.format(0)
    part.write_bytes(part.read_bytes()[:-1])
    with pytest.raises(ValueError, match="000000.part must be whole.*overwrite=True"):
        list(PartialOutput(saved).lines())


def test_what_is_whole_takes_its_place_and_files_of_others_stay(saved, tmp_path):
    (saved / "note.txt").write_text("mine")
    with PartialOutput(saved).whole(tmp_path / "out") as path:
        assert path.parent == saved
        path.write_text("all")
    assert (tmp_path / "out").read_text() == "all"
    assert os.listdir(saved) == ["note.txt"]
