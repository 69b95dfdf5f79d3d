import gzip
import io

import pytest

from keras_elmo.corpora import reader
from keras_elmo.corpora.reader import CorpusReader

TEXT = "\ufeffone\r\n\n două \nthree".encode()
LINES = [b"one", b"", " două ".encode(), b"three"]


def write(place, name, content):
    (place / name).write_bytes(content)
    return str(place / name)


def lines_of(*files):
    return [line for window in CorpusReader(files).windows() for line in window]


def test_every_line_counts_through_plain_and_gzip_files_and_streams(tmp_path):
    plain = write(tmp_path, "a.txt", TEXT)
    zipped = write(tmp_path, "a.txt.gz", gzip.compress(TEXT))
    assert lines_of(plain, zipped, io.BytesIO(TEXT)) == LINES * 3
    assert lines_of(write(tmp_path, "empty", b"")) == []


@pytest.mark.parametrize(
    ("most_lines", "most_bytes", "expected"),
    [(3, 99, [3, 3, 1]), (99, 4, [2, 2, 2, 1]), (99, 1, [1] * 7), (99, 99, [7])],
)
def test_windows_are_full_by_lines_or_bytes(monkeypatch, most_lines, most_bytes, expected):
    monkeypatch.setattr(reader, "LINES_AT_ONCE", most_lines)
    monkeypatch.setattr(reader, "BYTES_AT_ONCE", most_bytes)
    windows = list(CorpusReader([io.BytesIO(b"ab\n" * 7)]).windows())
    assert [len(window) for window in windows] == expected


def test_windows_until_a_line_and_the_rest(monkeypatch):
    monkeypatch.setattr(reader, "LINES_AT_ONCE", 4)
    corpus = CorpusReader([io.BytesIO(b"a\n" * 10)])
    assert [len(window) for window in corpus.windows(0)] == []
    assert [len(window) for window in corpus.windows(6)] == [4, 2]
    assert [len(window) for window in corpus.windows()] == [4]
    assert corpus.n_lines == 10


def test_sha256_is_of_the_lines_alone(tmp_path):
    files = [
        write(tmp_path, "a.txt", TEXT),
        write(tmp_path, "b.gz", gzip.compress(b"\n".join(LINES) + b"\n")),
        write(tmp_path, "c.txt", b"one\n\n\n"),
    ]
    found = []
    for file in files:
        corpus = CorpusReader([file])
        list(corpus.windows())
        found.append(corpus.sha256)
    assert found[0] == found[1] != found[2]


def test_sha256_does_not_depend_on_windows(monkeypatch):
    found = set()
    for most in (1, 2, 99):
        monkeypatch.setattr(reader, "LINES_AT_ONCE", most)
        corpus = CorpusReader([io.BytesIO(TEXT)])
        list(corpus.windows())
        found.add(corpus.sha256)
    assert len(found) == 1


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("latin", b"one\nun caf\xe9\n", "latin, line 2: text must be UTF-8. Received byte 0xe9 at"),
        ("cut.gz", gzip.compress(b"te\n" * 99)[:-9], "cut.gz must be a whole gzip file"),
        ("no.gz", b"text", "no.gz must be a whole gzip file. Received: Not a gzipped file"),
        ("long", b"one\n" + b"a" * 21, "long, line 2: a line must be at most 20 bytes"),
    ],
    ids=["latin", "cut", "no gzip", "long"],
)
def test_bad_text_is_named(tmp_path, monkeypatch, name, content, message):
    monkeypatch.setattr(reader, "LONGEST_LINE", 20)
    with pytest.raises(ValueError, match=message):
        lines_of(write(tmp_path, name, content))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="none.txt"):
        lines_of(tmp_path / "none.txt")


def test_standard_input_is_named():
    stream = io.BytesIO(b"\xff")
    stream.name = "<stdin>"
    with pytest.raises(ValueError, match="^standard input, line 1: text must be UTF-8"):
        lines_of(stream)
