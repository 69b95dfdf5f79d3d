import json

from keras_elmo.cli.report import aligned, record_lines, wrapped

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


def test_columns_stand_below_each_other_in_blocks_that_fit(monkeypatch):
    monkeypatch.setenv("COLUMNS", "12")
    rows = [("name", "a", "bb", "ccc"), ("x", "10", "1", "2")]
    assert aligned(rows[:1]) == ["name  a  bb", "name  ccc"]
    assert aligned(rows, is_number=True) == [
        *("name   a  bb", "x     10   1"),
        *("name  ccc", "x       2"),
    ]


def test_long_lines_go_on_below(monkeypatch):
    monkeypatch.setenv("COLUMNS", "12")
    assert wrapped("a word, then-another", "  ") == ["  a word,", "    then-another"]
