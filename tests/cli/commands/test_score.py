import json

import pytest

from keras_elmo import LanguageModel
from keras_elmo.cli.main import main

LINES = ["the cat sat!", "", " ", "a dog", "on the mat"]


@pytest.fixture
def text(tmp_path):
    (tmp_path / "text").write_text("\n".join(LINES) + "\n")
    return tmp_path / "text"


@pytest.fixture(scope="module")
def expected(model_directory):
    return LanguageModel.load(model_directory).score(LINES)


def assert_row(row, number, score):
    assert int(row["line"]) == number
    for name in ("forward", "backward", "combined"):
        assert float(row[name]) == pytest.approx(getattr(score, name), rel=1e-4)
    assert (int(row["tokens"]), int(row["unknown"])) == (score.tokens, score.unknown)


def test_tsv_has_a_row_for_every_line(model_directory, text, expected, capsys):
    assert main(["score", model_directory, str(text)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    names, *rows = (line.split("\t") for line in out.splitlines())
    assert names == ["line", "forward", "backward", "combined", "tokens", "unknown"]
    assert len(rows) == len(LINES)
    for number, (row, score) in enumerate(zip(rows, expected, strict=True), start=1):
        assert_row(dict(zip(names, row, strict=True)), number, score)
    assert [row[4] for row in rows] == ["5", "1", "1", "3", "4"]


def test_json_lines_count_through_all_files(
    model_directory, text, expected, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("keras_elmo.language_model.perplexity.HELD_AT_ONCE", 8)
    out = tmp_path / "out.json"
    options = ["--format", "json", "--output", str(out)]
    assert main(["score", model_directory, str(text), str(text), *options]) == 0
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(records) == 2 * len(LINES)
    for number, (record, score) in enumerate(zip(records, expected * 2, strict=True), start=1):
        assert_row(record, number, score)
    assert capsys.readouterr() == ("", "")


def test_a_fault_late_in_the_text_leaves_no_file(model_directory, tmp_path, capsys):
    (tmp_path / "text").write_bytes(b"the cat\n" * 50 + b"\xff\n")
    out = tmp_path / "out"
    assert main(["score", model_directory, str(tmp_path / "text"), "--output", str(out)]) == 2
    assert "text, line 51: text must be UTF-8" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["text"]
