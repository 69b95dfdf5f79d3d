import os

import pytest

from keras_elmo.cli.errors import UserError
from keras_elmo.cli.output import check_output, remove_scratch


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
