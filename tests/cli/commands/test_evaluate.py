import gzip
import json

import pytest

from keras_elmo import LanguageModel
from keras_elmo.cli.main import main
from keras_elmo.language_model.results import DEFINITION

LINES = ["the cat sat!", "", "a dog", "on the mat"]


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.txt").write_text("\n".join(LINES[:2]) + "\n")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress("\n".join(LINES[2:]).encode()))
    return tmp_path


def run(model_directory, files, *options):
    return main(["evaluate", model_directory, str(files / "[ab].txt*"), *options])


@pytest.fixture(scope="module")
def found(model_directory):
    return LanguageModel.load(model_directory).perplexity(LINES)


def test_report_names_figures_vocabulary_and_definition(model_directory, files, found, capsys):
    assert run(model_directory, files) == 0
    out, err = capsys.readouterr()
    *lines, definition = out.replace("\n  ", " ").splitlines()
    assert err == "" and max(map(len, out.splitlines())) <= 80
    assert lines == [
        f"perplexity: forward {found.forward:.2f}, backward {found.backward:.2f}, "
        f"combined {found.combined:.2f}",
        "text: 3 sentences, 12 predicted tokens a direction",
        "vocabulary: 9, unknown 22.22% of the words",
    ]
    assert definition == f"definition: {DEFINITION}"


def test_json_is_one_object_in_a_file(model_directory, files, found, capsys):
    out = files / "out.json"
    out.write_text("old")
    options = ("--format", "json", "--output", str(out))
    assert run(model_directory, files, *options) == 2
    assert "out.json exists. Give another file, or --overwrite" in capsys.readouterr().err
    assert run(model_directory, files, *options, "--overwrite") == 0
    record = json.loads(out.read_text())
    assert list(record) == [
        *("forward", "backward", "combined", "sentences", "tokens", "unknown_share"),
        *("vocabulary", "definition"),
    ]
    assert list(record.values())[:6] == pytest.approx(list(found), rel=1e-5)
    assert record["vocabulary"] == 9 and "zero state" in record["definition"]
    assert capsys.readouterr() == ("", "")


def faulty(files, name, content):
    (files / name).write_bytes(content)
    return str(files / name)


def test_bad_text_is_one_line_and_nothing_written(model_directory, files, capsys):
    out = str(files / "out")
    bad = [
        (faulty(files, "blank", b"\n \n"), "blank: There must be at least one sentence"),
        (faulty(files, "latin", b"caf\xe9\n"), "latin, line 1: text must be UTF-8"),
        (str(files / "none"), "none does not exist"),
    ]
    for path, message in bad:
        assert main(["evaluate", model_directory, path, "--output", out]) == 2
        error = capsys.readouterr().err
        assert error.startswith("keras_elmo evaluate: error: ") and error.count("\n") == 1
        assert message in error
        assert not (files / "out").exists()
