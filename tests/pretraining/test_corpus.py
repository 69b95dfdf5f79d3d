import gzip
import itertools

import pytest

from keras_elmo.pretraining.corpus import (
    count_words,
    read_lines,
    read_sentences,
    shuffled_sentences,
    windows,
)


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
    path = write(tmp_path / "a.txt", "a b a\nb 한\n")
    counts, sentences = count_words(read_sentences([path], "space"))
    assert (counts, sentences) == ({"a": 2, "b": 2, "한": 1}, 2)


def test_wrong_bytes_are_named_with_file_and_line(tmp_path):
    path = write(tmp_path / "a.txt", b"fine\nbad \xe9t\xe9\n")
    with pytest.raises(ValueError, match=r"a.txt, line 2: .*UTF-8.*0xe9 at column 5"):
        list(read_lines([path]))


@pytest.mark.parametrize("damage", [slice(0, 20), slice(5, None)])
def test_damaged_gzip_is_named(tmp_path, damage):
    path = write(tmp_path / "a.txt.gz", "one two three\n" * 50)
    path.write_bytes(path.read_bytes()[damage])
    with pytest.raises(ValueError, match=r"a.txt.gz must be a whole gzip file"):
        list(read_lines([path]))


def test_shuffling_keeps_every_sentence_of_an_epoch_and_is_seeded(tmp_path):
    lines = [str(n) for n in range(200)]
    paths = [
        write(tmp_path / "a.txt", "\n".join(lines[:90])),
        write(tmp_path / "b.txt.gz", "\n".join(lines[90:])),
    ]

    def epochs(seed, buffer_size=16):
        stream = shuffled_sentences(paths, "space", seed, buffer_size)
        words = [sentence[0].decode() for sentence in itertools.islice(stream, 400)]
        return words[:200], words[200:]

    first, second = epochs(1)
    assert sorted(first) == sorted(second) == sorted(lines)
    assert first != lines and first != second
    assert epochs(1) == (first, second)
    assert epochs(2)[0] != first


def test_windows_by_hand():
    sentences = [[b"a", b"b"], [b"c"], [b"d"], [b"e", b"f", b"g"], [b"h"] * 9]
    first, second, *rest = windows(sentences, batch_size=1, window=5)
    assert first.forward_inputs.tolist() == [[b"", b"a", b"b", b"", b"c"]]
    assert first.forward_targets.tolist() == [[b"a", b"b", b"", b"c", b""]]
    assert first.backward_inputs.tolist() == [[b"", b"b", b"a", b"", b"c"]]
    assert first.backward_targets.tolist() == [[b"b", b"a", b"", b"c", b""]]
    assert second.forward_inputs.tolist() == [[b"", b"d", b"", b"e", b"f"]]
    assert second.backward_targets.tolist() == [[b"d", b"", b"g", b"f", b"e"]]
    assert rest[0].forward_inputs.tolist() == [[b"g", b"", b"h", b"h", b"h"]]


def test_lanes_go_on_in_the_next_batch_and_lose_nothing():
    sentences = [[b"%d" % n] * (1 + n % 7) for n in range(300)]
    lanes = [[], [], [], []]
    for batch in windows(sentences, batch_size=4, window=6):
        assert batch.forward_inputs.shape == (4, 6)
        for lane, row in zip(lanes, batch.forward_targets, strict=True):
            lane.extend(row)
    seen = {word for lane in lanes for word in lane}
    assert len(seen - {b""}) > 290
    for lane in lanes:
        for is_end, words in itertools.groupby(lane, lambda word: word == b""):
            assert is_end or len({*words}) == 1


def test_too_little_text_gives_no_window():
    assert list(windows([[b"a"]], batch_size=2, window=4)) == []


def test_arrays_hold_bytes():
    batch = next(windows([[b"\xff\x00"] * 3], 1, 3))
    assert batch.forward_targets.dtype == object
    assert batch.forward_inputs.tolist() == [[b"", b"\xff\x00", b"\xff\x00"]]
