import json
import os

import pytest
from published import FACTS, pair, publish, tiny_model

from keras_elmo.cli.main import main
from keras_elmo.presets.registry import RemoteFile, published_models

FIELDS = [
    *("name", "language", "lstm_dim", "projection_dim", "parameters", "where", "licence"),
    "corpus",
]
UNKNOWN = dict.fromkeys(("lstm_dim", "projection_dim", "n_highway", "parameters"))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Folder of downloaded models, in which `held` lies."""
    monkeypatch.setenv("KERAS_ELMO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TFHUB_CACHE_DIR", str(tmp_path / "tfhub"))
    folder = tmp_path / "cache" / "held"
    folder.mkdir(parents=True)
    for name in ("options.json", "weights.hdf5"):
        (folder / name).write_text("content")
    (folder / "weights.hdf5.sha256").write_text("abc  weights.hdf5\n")
    return tmp_path / "cache"


@pytest.fixture
def models(monkeypatch):
    address = "https://example.com/{}".format
    archive = RemoteFile("archive", "e.tar.gz", address("e"), (address("f"),), "0" * 64)
    publish(
        monkeypatch,
        tiny_model("english-small", shipped=True),
        tiny_model("held", pair(address), note="a note"),
        tiny_model("away", pair(address), projection_dim=None),
        tiny_model("parts", note="in parts"),
        tiny_model("dark", verified=False, **UNKNOWN),
        tiny_model("a/b/1", [archive], kind="tf_hub", handles=("https://tfhub.dev/a/b/1",)),
    )


def run(capsys, *arguments):
    assert main(["presets", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out.splitlines()


WHERE = {
    "english-small": "shipped",
    "held": "cached",
    "away": "to download",
    "parts": "by hand",
    "dark": "address not verified",
    "a/b/1": "to download",
}


def test_table(models, capsys):
    lines = run(capsys)
    assert lines[0].split() == ["name", "language", "LSTM/projection", "parameters", "where"]
    assert max(map(len, lines)) <= 80
    assert lines[1].split()[:5] == ["english-small", "English", "12/8", "3.0", "M"]
    assert lines[5].split()[2] == "12/?"
    for line, below, (name, where) in zip(lines[1::2], lines[2::2], WHERE.items(), strict=True):
        assert line.split()[0] == name
        assert line.endswith(f"  {where}") and line.index(where) == lines[0].index("where")
        assert below == f"  {FACTS['corpus']}; licence: {FACTS['licence']}"


def test_tsv_and_json_tell_the_same(models, capsys):
    names, *rows = (line.split("\t") for line in run(capsys, "--format", "tsv"))
    records = [json.loads(line) for line in run(capsys, "--format", "json")]
    assert names == FIELDS
    assert [record["where"] for record in records] == list(WHERE.values())
    for row, record in zip(rows, records, strict=True):
        assert list(record) == FIELDS
        assert row == ["" if value is None else str(value) for value in record.values()]
    assert records[4]["lstm_dim"] is None


def test_one_model_with_all_its_facts(models, cache, capsys):
    lines = run(capsys, "held")
    for expected in (
        *("name: held", "where: cached", "parameters: 3,000,000", "citation: Nobody 2018"),
        *("note: a note", "page: https://example.com/tiny", f"place: {cache / 'held'}"),
        *("weights: weights.hdf5", "  https://example.com/weights.hdf5", "  sha256: not published"),
        *("verified: yes", "shipped: no", "  sha256 of the first download: abc"),
    ):
        assert expected in lines
    assert not any("None" in line for line in lines)
    lines = run(capsys, "a/b/1")
    assert lines[-4:] == [
        "archive: e.tar.gz",
        "  https://example.com/e",
        "  https://example.com/f",
        f"  sha256: {'0' * 64}",
    ]


def test_one_model_as_json_and_tsv(models, cache, capsys):
    (record,) = map(json.loads, run(capsys, "held", "--format", "json"))
    assert {key: record[key] for key in ("kind", "n_highway", "note")} == {
        **{key: FACTS[key] for key in ("kind", "n_highway")},
        "note": "a note",
    }
    assert [file["first_sha256"] for file in record["files"]] == [None, "abc"]
    assert record["place"] == str(cache / "held")
    names, values = (line.split("\t") for line in run(capsys, "held", "--format", "tsv"))
    assert dict(zip(names, values, strict=True))["files"] == (
        "https://example.com/options.json https://example.com/weights.hdf5"
    )


def test_unknown_name_is_one_line(models, capsys):
    assert main(["presets", "hold"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert err.startswith("keras_elmo presets: error: NAME: ")
    assert "'hold'. Did you mean 'held'?" in err


def test_the_registry_of_the_package(tmp_path, capsys):
    assert main(["presets", "--output", str(tmp_path / "table")]) == 0
    lines = (tmp_path / "table").read_text().splitlines()
    names = [line.split()[0] for line in lines[1:] if not line.startswith(" ")]
    assert names == [model.name for model in published_models()]
    for model in published_models():
        assert f"name: {model.name}" in run(capsys, model.name)
    assert sorted(os.listdir(tmp_path)) == ["cache", "table"]
