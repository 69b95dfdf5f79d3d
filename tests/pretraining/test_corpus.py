import gzip
import itertools

import pytest

from keras_elmo.pretraining.corpus import ShuffledLines, count_corpus, read_lines, read_sentences


def write(path, content):
    content = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def test_plain_and_gzip_lines_with_any_line_end(tmp_path):
    plain = write(tmp_path / "a.txt", b"\xef\xbb\xbfone two\r\n\r\n  \nthree")
    packed = write(tmp_path / "b.txt.gz", "한국어 문장\n")
    assert list(read_lines([plain, packed])) == [b"one two", b"three", "한국어 문장".encode()]


def test_sentences_follow_the_tokenizer(tmp_path):
    path = write(tmp_path / "a.txt", "Hello, you!\n")
    assert list(read_sentences([path], "space")) == [[b"Hello,", b"you!"]]
    assert list(read_sentences([path], "words")) == [[b"Hello", b",", b"you", b"!"]]


def test_counts(tmp_path):
    path = write(tmp_path / "a.txt", "a b a\n  \nb 한\n\xa0\n")
    counts = count_corpus([path], "words")
    assert counts.words == {"a": 2, "b": 2, "한": 1}
    assert (counts.lines, counts.sentences, counts.tokens, counts.positions) == (3, 2, 5, 7)


def two_files(folder, n=200):
    lines = [b"%d" % number for number in range(n)]
    paths = (
        write(folder / "a.txt", b"\n".join(lines[:90])),
        write(folder / "b.txt.gz", b"\n".join(lines[90:])),
    )
    return lines, paths


def take(lines, n, start=0):
    return list(itertools.islice(lines.read(start), n))


def test_shuffling_keeps_every_line_of_an_epoch_and_is_seeded(tmp_path):
    lines, paths = two_files(tmp_path)
    shuffled = ShuffledLines(paths, 200, seed=1, buffer_size=16)
    both = take(shuffled, 400)
    first, second = both[:200], both[200:]
    assert sorted(first) == sorted(second) == sorted(lines)
    assert first != lines and first != second
    assert take(shuffled, 400) == both
    assert take(ShuffledLines(paths, 200, seed=2, buffer_size=16), 200) != first


@pytest.mark.parametrize("start", [0, 1, 15, 199, 200, 333, 400])
def test_reading_goes_on_at_any_line(tmp_path, start):
    _, paths = two_files(tmp_path)
    shuffled = ShuffledLines(paths, 200, seed=1, buffer_size=16)
    assert take(shuffled, 300, start) == take(shuffled, 300 + start)[start:]


@pytest.mark.parametrize("counted", [199, 201])
def test_text_that_changed_since_it_was_counted(tmp_path, counted):
    _, paths = two_files(tmp_path)
    with pytest.raises(ValueError, match=f"as it was counted, {counted} lines. Received 200 lines"):
        take(ShuffledLines(paths, counted, seed=1), 500)


def test_long_lines_bound_the_buffer(tmp_path):
    lines = [b"%03d" % n * 10 for n in range(100)]
    path = write(tmp_path / "a.txt", b"\n".join(lines))
    read = []
    stream = ShuffledLines((path,), 100, 1, buffer_bytes=90)
    for place, line in enumerate(itertools.islice(stream.read(), 100)):
        assert lines.index(line) <= place + 3  # three of them fit
        read.append(line)
    assert sorted(read) == lines and read != lines
    assert take(ShuffledLines((path,), 100, 1, buffer_bytes=1), 100) == lines
