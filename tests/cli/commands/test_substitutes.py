import json

import pytest

from keras_elmo import LanguageModel
from keras_elmo.cli.main import main


def run(model_directory, *options):
    return main(["substitutes", model_directory, *options])


def test_text_is_split_by_the_models_tokenizer(model_directory, capsys):
    expected = LanguageModel.load(model_directory).predict_words(["the", "cat", "!"], 1, k=2)
    assert run(model_directory, "--text", "the cat!", "--position", "1", "-k", "2") == 0
    out, err = capsys.readouterr()
    names, *rows = (line.split("\t") for line in out.splitlines())
    assert err == ""
    assert names == ["word", "log_probability", "probability"]
    assert [row[0] for row in rows] == [word for word, _ in expected]
    for row, substitute in zip(rows, expected, strict=True):
        assert float(row[1]) == pytest.approx(substitute.log_probability, rel=1e-4)
        assert float(row[2]) == pytest.approx(substitute.probability, rel=1e-4)


def test_tokens_are_split_at_spaces_only(model_directory, capsys, tmp_path):
    expected = LanguageModel.load(model_directory).predict_words(["the", "cat!", "--"], 2)
    out = tmp_path / "out"
    options = ["--position", "2", "--format", "json", "--output", str(out)]
    assert run(model_directory, "--tokens", "the cat! --", *options) == 0
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert [record["word"] for record in records] == [word for word, _ in expected]
    assert len(records) == 6  # ten are asked for, the vocabulary holds six
    assert sum(record["probability"] for record in records) == pytest.approx(1, rel=1e-4)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--text", "the cat!", "--position", "3"], "from 0 to 2, a place in a sentence of 3"),
        (["--text", "the cat!", "--position", "-1"], "at least 0, not '-1'"),
        (["--text", "  ", "--position", "0"], "at least one token"),
        (["--position", "0"], "one of the arguments --text --tokens is required"),
        (["--text", "a", "--tokens", "a", "--position", "0"], "not allowed with argument --text"),
    ],
)
def test_bad_input_is_one_line(model_directory, capsys, options, message):
    assert run(model_directory, *options) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert err.startswith("keras_elmo substitutes: error: ")
    assert message in err
