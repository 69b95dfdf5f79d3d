import gzip
import io

import pytest

from keras_elmo.corpora import reader
from keras_elmo.corpora.reader import CorpusReader

TEXT = "\ufeffone\r\n\n două \nthree".encode()
LINES = [b"one", b"", " două ".encode(), b"three"]


def read(*files):
    corpus = CorpusReader(files)
    return [line for window in corpus.windows() for line in window], corpus.sha256


def test_every_line_counts_through_plain_and_gzip_files_and_streams(tmp_path):
    (tmp_path / "a.txt").write_bytes(TEXT)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(TEXT))
    found, _ = read(tmp_path / "a.txt", str(tmp_path / "a.txt.gz"), io.BytesIO(TEXT))
    assert found == LINES * 3
    assert read(io.BytesIO())[0] == []


@pytest.mark.parametrize(
    ("most_lines", "most_bytes", "expected"),
    [(3, 99, [3, 3, 1]), (99, 5, [2, 2, 2, 1]), (99, 1, [1] * 7)],
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


def test_sha256_is_of_the_lines_alone(monkeypatch):
    expected = read(io.BytesIO(TEXT))[1]
    assert read(io.BytesIO(b"\n".join(LINES) + b"\n"))[1] == expected
    assert read(io.BytesIO(b"one\n\n\n"))[1] != expected
    monkeypatch.setattr(reader, "LINES_AT_ONCE", 1)
    assert read(io.BytesIO(TEXT))[1] == expected
