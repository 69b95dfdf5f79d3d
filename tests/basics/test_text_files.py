"""Text files as lines: what is found, what is read, and what is told of a damaged one."""

import gzip
import io
import os

import pytest

from keras_elmo.basics import text_files
from keras_elmo.basics.text_files import find_files, lines_of

TEXT = "één\n\nzwei \r\nlast".encode()
LINES = ["één".encode(), b"", b"zwei ", b"last"]


def test_patterns_are_sorted_and_paths_stay_in_their_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("b.txt", "a.txt", "c.gz", "deep/d.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert find_files(["c.gz", "*.txt", "-"]) == ["c.gz", "a.txt", "b.txt", "-"]
    assert find_files(["**/*.txt"]) == ["a.txt", "b.txt", os.path.join("deep", "d.txt")]


def test_a_path_that_exists_is_no_pattern(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a1.txt").touch()
    assert find_files(["a[1].txt"]) == ["a1.txt"]
    (tmp_path / "a[1].txt").touch()
    assert find_files(["a[1].txt"]) == ["a[1].txt"]


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("no*", FileNotFoundError, r"no\* does not exist"),
        (".", IsADirectoryError, "is a directory. Give text files"),
        ("broken", FileNotFoundError, "broken does not exist"),
    ],
)
def test_what_is_no_file(name, error, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken").symlink_to("nowhere")
    with pytest.raises(error, match=message):
        find_files([name])


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    (tmp_path / "secret").touch()
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match="secret cannot be read"):
        find_files([str(tmp_path / "secret")])


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("name", ["text", "text.gz"])
def test_lines_of_a_file(name, mark, tmp_path):
    path = tmp_path / name
    path.write_bytes(gzip.compress(mark + TEXT) if name.endswith(".gz") else mark + TEXT)
    assert list(lines_of(path)) == LINES
    assert list(lines_of(str(path), "UTF8")) == LINES


def test_only_the_first_mark_is_one():
    assert list(lines_of(io.BytesIO(b"a\n\xef\xbb\xbfb"))) == [b"a", b"\xef\xbb\xbfb"]
    assert list(lines_of(io.BytesIO(b""))) == []


def test_a_file_object_is_read_from_where_it_is():
    file = io.BytesIO(b"a\nb\nc\n")
    file.readline()
    assert list(lines_of(file)) == [b"b", b"c"]


def test_another_encoding():
    text = "größer\nklein".encode("latin-1")
    assert list(lines_of(io.BytesIO(text), "latin-1")) == ["größer".encode(), b"klein"]
    with pytest.raises(ValueError, match="line 1: text must be CP932"):
        list(lines_of(io.BytesIO(b"\x81"), "cp932"))


@pytest.mark.parametrize("fault", ["cut", "changed"])
def test_damaged_gzip_tells_where(fault, tmp_path):
    content = bytearray(gzip.compress(b"line\n" * 3 + os.urandom(3000)))
    content = content[:-9] if fault == "cut" else content[:-8] + b"\0" * 8
    (tmp_path / "text.gz").write_bytes(content)
    lines = lines_of(tmp_path / "text.gz")
    assert [next(lines) for _ in range(3)] == [b"line"] * 3
    with pytest.raises(ValueError, match=r"text.gz(, line 4| must be a whole gzip file)"):
        list(lines_of(tmp_path / "text.gz", "latin-1"))


def test_gzip_and_its_name_go_together(tmp_path):
    (tmp_path / "text").write_bytes(gzip.compress(TEXT))
    with pytest.raises(ValueError, match="text must be text, or gzip .* ends in .gz"):
        list(lines_of(tmp_path / "text"))
    (tmp_path / "text.gz").write_bytes(TEXT)
    with pytest.raises(ValueError, match=r"text.gz must be a whole gzip file.*after line 0"):
        list(lines_of(tmp_path / "text.gz"))


def test_what_is_not_utf_8_is_told_with_its_place(tmp_path):
    (tmp_path / "text").write_bytes("gut\nschön".encode("latin-1"))
    lines = lines_of(tmp_path / "text")
    assert next(lines) == b"gut"
    with pytest.raises(ValueError, match=r"text, line 2: .*UTF-8. Received byte 0xf6 at column 4"):
        next(lines)


def test_a_line_that_is_too_long(monkeypatch):
    monkeypatch.setattr(text_files, "LONGEST_LINE", 4)
    assert list(lines_of(io.BytesIO(b"123\n1234"))) == [b"123", b"1234"]
    with pytest.raises(ValueError, match="line 2: a line must be at most 4 bytes"):
        list(lines_of(io.BytesIO(b"123\n12345\n")))


def test_standard_input(monkeypatch):
    for content, expected in ((TEXT, LINES), (b"\xff", None)):
        stdin = io.TextIOWrapper(io.BytesIO(content))
        monkeypatch.setattr("sys.stdin", stdin)
        if expected is not None:
            assert list(lines_of("-")) == expected
            continue
        with pytest.raises(ValueError, match="standard input, line 1"):
            list(lines_of("-"))
