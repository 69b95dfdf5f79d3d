import json
import os

import pytest

from keras_elmo.cli.errors import UserError
from keras_elmo.cli.records import check_output_file, record_lines, write_lines

FIELDS = ("word", "nats", "count")
ROWS = [("tea", -1.23456789, 20_003), ("a\tb", -1234567.0, 0)]


def test_tsv():
    lines = ["tea\t-1.23457\t20003", "a\\tb\t-1234570.0\t0"]
    assert list(record_lines("tsv", FIELDS, ROWS)) == ["word\tnats\tcount", *lines]
    assert list(record_lines("tsv", FIELDS, ROWS, header=False)) == lines


def test_json_is_one_object_a_line():
    rows = [*ROWS, ("naïve", 1e-9, 1)]
    lines = list(record_lines("json", FIELDS, rows))
    assert [json.loads(line) for line in lines] == [
        {"word": "tea", "nats": -1.23457, "count": 20_003},
        {"word": "a\tb", "nats": -1234570.0, "count": 0},
        {"word": "naïve", "nats": 1e-9, "count": 1},
    ]
    assert "naïve" in lines[2]


def test_lines_are_printed_or_written(tmp_path, capsys):
    write_lines(["one", "två"])
    assert capsys.readouterr().out == "one\ntvå\n"
    path = tmp_path / "out"
    write_lines(["one", "två"], path)
    assert path.read_bytes() == "one\ntvå\n".encode()
    (tmp_path / "usual").write_text("")
    assert path.stat().st_mode == (tmp_path / "usual").stat().st_mode
    assert sorted(os.listdir(tmp_path)) == ["out", "usual"]


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
