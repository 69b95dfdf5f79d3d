import gzip

import numpy as np
import pytest

from keras_elmo.embedding.load_glove import load_glove

LINES = ["the 0.5 -1", ". . . 1 2", "a\u00a0b 3 4", "the 9 9", "Cat 1e-1 2.5"]


@pytest.fixture
def write(tmp_path):
    """Writes lines, as text or bytes, to a file, and gives its path."""

    def write(lines, name="vectors.txt", end="\n"):
        data = lines if isinstance(lines, bytes) else (end.join(lines) + end).encode()
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write


def test_words_with_spaces_and_repeated_words_by_hand(write):
    vectors = load_glove(write(LINES))
    assert vectors.words == ("the", ". . .", "a\u00a0b", "Cat")
    expected = np.float32([[0.5, -1], [1, 2], [3, 4], [0.1, 2.5]])
    np.testing.assert_array_equal(vectors.vectors, expected)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (gzip.compress, "vectors.gz"),
        (lambda data: b"\xef\xbb\xbf" + data, "vectors.txt"),
        (lambda data: data.replace(b"\n", b"\r\n"), "vectors.txt"),
        (lambda data: data.replace(b"\n", b" \n"), "vectors.txt"),
        (lambda data: b"5 2\n" + data + b"\n", "vectors.txt"),
    ],
    ids=["gz", "mark", "crlf", "space at the end", "header and blank line"],
)
def test_other_forms_of_the_same_file(write, change, name):
    plain = load_glove(write(LINES, "plain.txt"))
    other = load_glove(write(change(("\n".join(LINES) + "\n").encode()), name))
    assert other.words == plain.words
    np.testing.assert_array_equal(other.vectors, plain.vectors)


def test_only_words_asked_for_are_kept(write):
    path = write(["the 1 2", "cat 3 4", "Cat 5 6", "dog 7 8"])
    assert load_glove(path, words=["Cat", "unknown"]).words == ("cat", "Cat")
    assert load_glove(path, words=["The"]).words == ("the",)
    with pytest.raises(ValueError, match="`words` must have a word of .* Received: 1 words"):
        load_glove(path, words=["unknown"])
    with pytest.raises(TypeError, match="`words` must hold words. Received: 'cat'"):
        load_glove(path, words="cat")


def test_normalized_vectors_have_length_one(write):
    vectors = load_glove(write(["the 3 4", "zero 0 0"]), normalize=True)
    np.testing.assert_allclose(vectors.vectors, [[0.6, 0.8], [0, 0]])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("cat 1", "line 3: a word and its 2 values must stand here.* Received: 2 fields"),
        ("cat", "line 3: a word and its 2 values"),
        (" ".join(["cat"] * 11), "line 3: a word and its 2 values.* Received: 11 fields"),
        ("cat 1 x2", "line 3: the last 2 fields must be finite numbers. Received: 'x2'"),
        ("cat 1e99 1", "line 3: the last 2 fields must be finite numbers. Received: '1e99'"),
        ("cat nan 1", "line 3: the last 2 fields must be finite numbers. Received: 'nan'"),
        (" 1 2", "line 3: there is no word"),
    ],
)
def test_damaged_line_is_named(write, line, message):
    path = write(["the 1 2", "a 3 4", line, "of 5 6"])
    with pytest.raises(ValueError, match=message):
        load_glove(path)


def test_what_is_no_file_of_vectors_raises(write, tmp_path):
    with pytest.raises(FileNotFoundError, match="must be a file of word vectors.*nothing there"):
        load_glove(tmp_path / "none.txt")
    with pytest.raises(ValueError, match="is a zip archive. Unpack it"):
        load_glove(write(b"PK\x03\x04rest", "vectors.zip"))
    with pytest.raises(ValueError, match="must hold word vectors. Received: no line"):
        load_glove(write(b"\n\n"))
    with pytest.raises(TypeError, match="`normalize` must be True or False"):
        load_glove(write(LINES), normalize="yes")


def test_published_vectors(shared):
    path = shared / "glove" / "glove.6B.100d.10k.txt.gz"
    if not path.is_file():
        pytest.skip("no published vectors here")
    vectors = load_glove(path)
    assert (len(vectors), vectors.dim, vectors.words[0]) == (10000, 100, "the")

    def cosine(one, other):
        one, other = vectors[one], vectors[other]
        return one @ other / np.linalg.norm(one) / np.linalg.norm(other)

    assert cosine("king", "queen") > 0.7 > 0.4 > cosine("king", "percent")
