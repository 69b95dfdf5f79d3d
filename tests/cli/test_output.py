import os

import pytest

from keras_elmo.cli.command import UserError
from keras_elmo.cli.output import check_output, check_output_file, write_lines


def test_what_must_not_be_written_is_told_by_its_option(tmp_path):
    (tmp_path / "mine").write_text("")
    with pytest.raises(UserError, match="^--output: .* of an earlier run.*--overwrite to replace"):
        check_output(tmp_path, False, ["mine"])


def test_lines_are_printed_or_written(tmp_path, capsys):
    write_lines(["one", "två"])
    assert capsys.readouterr().out == "one\ntvå\n"
    path = tmp_path / "out"
    write_lines(["one", "två"], path)
    assert path.read_bytes() == "one\ntvå\n".encode()
    assert os.listdir(tmp_path) == ["out"]


def test_a_failing_run_leaves_the_file_as_it_was(tmp_path):
    def failing():
        yield "half"
        raise UserError("bad line")

    for old in (None, "old"):
        if old:
            (tmp_path / "out").write_text(old)
        with pytest.raises(UserError, match="bad line"):
            write_lines(failing(), tmp_path / "out")
        assert [path.read_text() for path in tmp_path.iterdir()] == [old] * bool(old)


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    write_lines(["new"], tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new\n"


def test_what_cannot_be_written_is_told_before(tmp_path):
    (tmp_path / "old").write_text("old")
    (tmp_path / "text").write_text("text")
    faults = [
        (tmp_path, "is a directory"),
        (tmp_path / "old", "exists. Give another file, or --overwrite"),
        (tmp_path / "none" / "out", "there is no directory"),
        (os.devnull, "is no regular file"),
    ]
    for path, message in faults:
        with pytest.raises(UserError, match=message):
            check_output_file(path, overwrite=False)
    with pytest.raises(UserError, match="is among the files to read"):
        check_output_file(tmp_path / "text", True, ["-", str(tmp_path / "text")])
    check_output_file(tmp_path / "old", True, ["-", str(tmp_path / "text")])
    check_output_file(tmp_path / "new", False)
    check_output_file(None, False)
    assert sorted(os.listdir(tmp_path)) == ["old", "text"]


def test_a_directory_that_has_gone_meanwhile_is_told(tmp_path):
    with pytest.raises(UserError, match="cannot be written: No such file"):
        write_lines(["one"], tmp_path / "none" / "out")
