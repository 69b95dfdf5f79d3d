import pytest

from keras_elmo.tasks.tagger.conll import read_conll


@pytest.fixture
def read(tmp_path):
    """Writes a text, or bytes, to a file, and reads it."""

    def read(text, *columns):
        path = tmp_path / "data.tsv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_conll(path, *columns)

    return read


TEXT = "# a comment\nYou\tPRON\tP\n#\tSYM\tS\n\n\n# another\nNo\tINTJ\tU\n"


def test_sentences_labels_and_lines_by_hand(read):
    found = read(TEXT)
    assert found.tokens == [["You", "#"], ["No"]]
    assert found.labels == [["PRON", "SYM"], ["INTJ"]]
    assert found.lines == [[2, 3], [7]]
    assert read(TEXT, 1, 3).labels == [["P", "S"], ["U"]]
    assert read(TEXT, 3, 1).tokens == [["P", "S"], ["U"]]


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.replace(b"\n\n", b"\n \t\n"),
        lambda data: data.rstrip(b"\n"),
    ],
    ids=["mark", "crlf", "white blank line", "no end"],
)
def test_other_forms_of_the_same_file(read, change):
    found = read(change(TEXT.encode()))
    assert (found.tokens, found.labels) == read(TEXT)[:2]


def test_columns_separated_by_spaces(read):
    found = read("-DOCSTART- -X- O O\n\nJim NNP  I-NP B-PER\n# # # O\n", 1, 4)
    assert (found.tokens, found.labels) == ([["Jim", "#"]], [["B-PER", "O"]])


def test_first_line_with_a_hash_is_a_token_where_it_has_the_columns(read):
    assert read("#tag\tO\nJim\tB-PER\n").tokens == [["#tag", "Jim"]]
    assert read("#tag O\nJim B-PER\n").tokens == [["#tag", "Jim"]]
    assert read("# only\tO\n").tokens == [["# only"]]


def test_tokens_with_unusual_separators_stay_whole(read):
    found = read("a\u00a0b\tX\nc\u2028d\tX\ne\x0bf\x85\tY\ng h\tX\n")
    assert found.tokens == [["a\u00a0b", "c\u2028d", "e\x0bf", "g h"]]


def test_conllu_words_only(read):
    rows = ["1-2\tdu", "1\tde", "2\tle", "2.1\tnull"]
    rest = "\t_\tX" + "\t_" * 6 + "\n"
    found = read("".join(row + rest for row in rows), 2, 4)
    assert found.tokens == [["de", "le"]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tX\nb\n", "line 2: there must be 2 columns.* Received: 1. Correct"),
        ("a\tX\nb\tY\tZ\n", "line 2: there must be 2 columns.* Received: 3"),
        ("# x\nJim B-PER\n# y\n# three more fields\n", "line 4: there must be 2 columns"),
        ("a\tX\nb\t\n", "line 2: nothing in column 2 of 2"),
        ("\tX\n", "line 1: nothing in column 1 of 2"),
        ("word\n", "line 1: nothing in column 2 of 1. Choose the columns"),
        ("\n# nothing\n\n".replace("# nothing", ""), "must hold tagged sentences. Received: no"),
        (b"a\tX\n\xe9\tY\n", "line 2: text must be UTF-8. Received byte 0xe9 at column 1"),
    ],
)
def test_damaged_file_raises(read, text, message):
    with pytest.raises(ValueError, match=message):
        read(text)


def test_another_encoding(tmp_path):
    (tmp_path / "data.tsv").write_bytes("é\tX\n".encode("latin-1"))
    assert read_conll(tmp_path / "data.tsv", encoding="latin-1").tokens == [["é"]]


def test_wrong_arguments_raise(read, tmp_path):
    with pytest.raises(
        FileNotFoundError, match="must be a file of tagged sentences.*nothing there"
    ):
        read_conll(tmp_path / "none")
    with pytest.raises(ValueError, match="`label_column` must be a whole number >= 1"):
        read(TEXT, 1, 0)
    with pytest.raises(ValueError, match="`label_column` must be another column"):
        read(TEXT, 2, 2)


@pytest.mark.parametrize(
    ("name", "sentences", "tokens"), [("pos_ewt", 2001, 25147), ("ner_wnut17", 1009, 15733)]
)
def test_published_files(shared, name, sentences, tokens):
    path = shared / "eval" / name / "dev.tsv"
    if not path.is_file():
        pytest.skip("no such data here")
    found = read_conll(path)
    assert (len(found.tokens), sum(map(len, found.labels))) == (sentences, tokens)
