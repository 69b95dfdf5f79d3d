import gzip
import zipfile

import pytest

from keras_elmo.cli.command import UserError
from keras_elmo.cli.table import read_table


@pytest.fixture
def write(tmp_path):
    def write(content, name="data.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return write


def test_quoted_fields_line_breaks_and_blank_lines(write):
    path = write('label,text\r\nham,"a, ""b"""\r\n\r\nspam,"two\r\nlines"\r\n ham ,last\r\n')
    table = read_table(path, "text", "label")
    assert table.texts == ['a, "b"', "two\r\nlines", "last"]
    assert table.labels == ["ham", "spam", "ham"]
    assert table.lines == [2, 4, 6]
    assert table.notes == []


def test_words_that_pandas_reads_as_missing_are_texts(write):
    table = read_table(write("label,text\nham,NA\nspam,null\nham,  \n"), "text", "label")
    assert table.texts == ["NA", "null", "  "]


def test_quotes_are_ordinary_in_tab_separated_files(write):
    path = write('text\tlabel\n"open quote\tham\nb"c\tspam\n', "data.tsv")
    assert read_table(path, "text", "label").texts == ['"open quote', 'b"c']


def test_delimiter_encoding_and_no_header(write):
    path = write("ham;é\nspam;ü\n", encoding="latin-1")
    table = read_table(path, "2", "1", "latin-1", ";", header=False)
    assert (table.texts, table.labels, table.lines) == (["é", "ü"], ["ham", "spam"], [1, 2])


def test_byte_order_mark_is_no_part_of_a_name(write):
    path = write("\ufefflabel,text\nham,a\n")
    assert read_table(path, "text", "label").labels == ["ham"]


def test_unnamed_columns_are_left_out_with_a_note(write):
    path = write("v1,v2,,\nham,a,,\nspam,b,more,\nham,c,,more\n")
    table = read_table(path, "v2", "v1")
    assert table.texts == ["a", "b", "c"]
    assert table.notes == ["2 rows, the first on line 3, go on in unnamed columns: left out"]


def test_the_kaggle_file_as_it_is(shared):
    path = shared / "sms_spam" / "spam.csv"
    table = read_table(path, "v2", "v1", "latin-1")
    assert len(table.texts) == 5572
    assert (table.labels.count("ham"), table.labels.count("spam")) == (4825, 747)
    assert len(table.notes) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "data.csv is empty"),
        (b"label,text\n", "has a header row only"),
        (b"v1,v2,\nham,a,\n", "no column 'text'. Its columns: v1, v2 \\(1 unnamed\\).*--text-c"),
        (b"text,v1\na,ham\n", "no column 'label'. Its columns: text, v1.*--label-column"),
        (b"label;text\nham;a\n", "Its columns: label;text. .*If ',' does not separate"),
        (b"label,text,text\nham,a,b\n", "2 columns named 'text'"),
        (b"label,text\nham,a\nspam,b,c\n", "line 3: broken row, 3 fields instead of 2"),
        (b'label,text\n"ham","a\nb"\n\nspam,b,c\n', "line 5: broken row, 3 fields instead of 2"),
        (b'label,text\n"ham","a\nb"\nham,"a\nspam,b\n', "line 4: broken row, unexpected end"),
        (b"label,text\nham,a\nspam,\n,c\nham,\n", "no value in column 'text' on line 3, 5"),
        (b"label,text\nham,a\n ,c\n", "no value in column 'label' on line 3"),
        (b"label,text\n" + b"ham,\n" * 7, "line 2, 3, 4, 5, 6 and 2 more"),
        (b"label,text\nham,caf\xe9\n", "is not utf-8: byte 0xe9 on line 2. .*--encoding latin-1"),
        ("label,text\nham,a\n".encode("utf-16-le"), "line 1: a NUL character.*--encoding utf-16"),
    ],
)
def test_bad_files_are_told_in_one_line(write, content, message):
    with pytest.raises(UserError, match=message) as error:
        read_table(write(content), "text", "label")
    assert "\n" not in str(error.value)


def test_bad_paths_and_encodings(tmp_path, write):
    with pytest.raises(UserError, match="none.csv does not exist"):
        read_table(tmp_path / "none.csv", "text", "label")
    with pytest.raises(UserError, match="is a directory"):
        read_table(tmp_path, "text", "label")
    with pytest.raises(UserError, match="unknown encoding 'klingon'"):
        read_table(write("label,text\nham,a\n"), "text", "label", "klingon")


def test_utf_16_is_told_and_read(write):
    path = write("text,label\né,b\n".encode("utf-16"))
    with pytest.raises(UserError, match="--encoding utf-16"):
        read_table(path, "text", "label")
    assert read_table(path, "text", "label", "utf-16").texts == ["é"]


@pytest.mark.parametrize("name", ["a.tsv.gz", "a.tsv.zip", "gzip.tsv"])
def test_packed_tables_are_unpacked_whatever_their_name(tmp_path, name):
    content = "text\tlabel\né\tb\n".encode()
    if name.endswith("zip"):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("a.tsv", content)
    else:
        (tmp_path / name).write_bytes(gzip.compress(content))
    assert read_table(tmp_path / name, "text", "label").texts == ["é"]


def test_a_damaged_archive_is_told(write):
    for content in (gzip.compress(b"text,label\na,b\n" * 9)[:-9], b"PK\x03\x04 and no more"):
        with pytest.raises(UserError, match="a.csv cannot be read: "):
            read_table(write(content, "a.csv"), "text", "label")


def test_a_very_long_text_is_no_broken_row(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\n" + "x" * 200_000 + ",ham\n", encoding="utf-8")
    assert len(read_table(tmp_path / "a.csv", "text", "label").texts[0]) == 200_000
