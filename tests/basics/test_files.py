import os

import pytest

from keras_elmo.basics.files import whole_directory


def write(directory, content="new"):
    with whole_directory(directory) as stage:
        assert not os.path.samefile(stage, stage.parent)
        (stage / "file").write_text(content)


def test_directory_appears_complete_with_its_parents(tmp_path):
    target = tmp_path / "a" / "b"
    write(target)
    assert (target / "file").read_text() == "new"
    assert os.listdir(target.parent) == ["b"]


def test_directory_has_the_usual_permissions(tmp_path):
    write(tmp_path / "made")
    (tmp_path / "usual").mkdir()
    assert (tmp_path / "made").stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize("old", [[], ["old", "file"]])
def test_directory_is_replaced_as_a_whole(tmp_path, old):
    target = tmp_path / "out"
    target.mkdir()
    for name in old:
        (target / name).write_text("old")
    write(target)
    assert os.listdir(target) == ["file"]
    assert os.listdir(tmp_path) == ["out"]


def test_after_an_error_everything_is_as_before(tmp_path):
    target = tmp_path / "out"
    write(target, "old")
    with pytest.raises(KeyboardInterrupt), whole_directory(target) as stage:
        (stage / "file").write_text("half")
        raise KeyboardInterrupt
    assert (target / "file").read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]


def test_after_a_failed_rename_the_old_directory_is_back(tmp_path, monkeypatch):
    target = tmp_path / "out"
    write(target, "old")
    rename, calls = os.replace, []

    def fail_for_the_new_one(source, destination):
        calls.append(source)
        if len(calls) == 2:
            raise OSError("disk full")
        rename(source, destination)

    monkeypatch.setattr(os, "replace", fail_for_the_new_one)
    with pytest.raises(OSError, match="disk full"):
        write(target)
    assert (target / "file").read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]
