import gzip
import io
import sys

import pytest

from keras_elmo.cli.command import UserError
from keras_elmo.cli.reading import find_files, read_lines


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "b.txt").write_bytes("\ufeffone\r\n\n två \n".encode())
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"zipped\nno end"))
    (tmp_path / "a[1].txt").write_bytes(b"brackets\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def standard_input(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_lines_of_all_files_in_order_blank_ones_too(folder):
    assert list(read_lines(["b.txt", "a.txt.gz"])) == [
        *(b"one", b"", " två ".encode()),
        *(b"zipped", b"no end"),
    ]


def test_standard_input_among_files(folder, monkeypatch):
    standard_input(monkeypatch, b"typed\n\n")
    assert list(read_lines(["a.txt.gz", "-"])) == [b"zipped", b"no end", b"typed", b""]


def test_no_pattern_is_standard_input_and_a_missing_file_is_told(folder):
    assert find_files(["b.txt", "-"]) == ["b.txt", "-"]
    assert find_files([]) == ["-"]
    with pytest.raises(UserError, match=r"^none-\*.txt does not exist. Give text files"):
        find_files(["b.txt", "none-*.txt"])


def test_text_in_another_encoding_is_placed(folder):
    (folder / "latin.txt").write_bytes("one\nun café\n".encode("latin-1"))
    with pytest.raises(UserError, match="^latin.txt, line 2: .* byte 0xe9 at column 7"):
        list(read_lines(["latin.txt"]))


def test_a_file_that_goes_away_is_told(folder):
    with pytest.raises(UserError, match="gone.txt cannot be read: No such file"):
        list(read_lines(["gone.txt"]))
