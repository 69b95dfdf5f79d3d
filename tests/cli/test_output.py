import os

import pytest

from keras_elmo.cli.errors import UserError
from keras_elmo.cli.output import check_output, output_directory, remove_scratch


def write(directory, content="new"):
    with output_directory(directory) as stage:
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
    check_output(target, overwrite=True, files=("file", "old"))
    write(target)
    assert os.listdir(target) == ["file"]
    assert os.listdir(tmp_path) == ["out"]


def test_after_an_error_everything_is_as_before(tmp_path):
    target = tmp_path / "out"
    write(target, "old")
    with pytest.raises(KeyboardInterrupt), output_directory(target) as stage:
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


def test_what_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("")
    with pytest.raises(UserError, match="file is a file. Give a directory"):
        check_output(tmp_path / "file", True, ["mine"])
    with pytest.raises(UserError, match="full holds the output of an earlier run.*--overwrite"):
        check_output(tmp_path / "full", False, ["mine"])
    with pytest.raises(UserError, match="cannot be made"):
        check_output(tmp_path / "file" / "out", False, ["mine"])
    check_output(tmp_path / "new", False, ["mine"])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "full"]


def test_a_directory_with_other_files_is_never_replaced(tmp_path):
    (tmp_path / "thesis").write_text("")
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"holds other files \(thesis\). Give a new directory"):
        check_output(tmp_path, True, ["file"])


def test_what_a_killed_process_left_is_no_obstacle(tmp_path):
    (tmp_path / "out" / ".writing-abc").mkdir(parents=True)
    (tmp_path / "out" / ".writing-abc" / "file").write_text("half")
    (tmp_path / "out" / "file").write_text("whole")
    check_output(tmp_path / "out", overwrite=True, files=("file",))
    remove_scratch(tmp_path / "out")
    assert os.listdir(tmp_path / "out") == ["file"]
    remove_scratch(tmp_path / "absent")


def test_a_run_goes_on_beside_other_files(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    check_output(tmp_path, overwrite=False, files=("file",), goes_on=True)
    with pytest.raises(UserError, match=r"holds other files \(notes.txt\)"):
        check_output(tmp_path, overwrite=True, files=("file",))
