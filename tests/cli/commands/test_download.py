import os
import sys
import tarfile

import pytest
from loopback import serving
from published import pair, publish, tiny_model

from keras_elmo.bilm.bilm import BiLM
from keras_elmo.cli.main import main
from keras_elmo.presets.registry import RemoteFile

MODULE = "google/elmo/3"


@pytest.fixture
def server(tiny_directory, tmp_path, monkeypatch):
    """Serves a tiny biLM and a module, which are the registry."""
    monkeypatch.setenv("KERAS_ELMO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TFHUB_CACHE_DIR", str(tmp_path / "tfhub"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setitem(sys.modules, "tensorflow_hub", None)
    (tmp_path / "saved_model.pb").write_bytes(b"graph")
    with tarfile.open(tmp_path / "elmo_3.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "saved_model.pb", arcname="saved_model.pb")
    with serving() as loopback:
        for path in (*tiny_directory.iterdir(), tmp_path / "elmo_3.tar.gz"):
            loopback.answers[path.name] = path.read_bytes()
        publish(
            monkeypatch,
            tiny_model("english-small", shipped=True),
            tiny_model("tiny", pair(loopback.url)),
            tiny_model("dark", verified=False),
            tiny_model(
                MODULE,
                [RemoteFile("archive", "elmo_3.tar.gz", loopback.url("elmo_3.tar.gz"))],
                kind="tf_hub",
                handles=(f"https://tfhub.dev/{MODULE}",),
            ),
        )
        yield loopback


def test_places_are_printed_and_can_be_loaded(server, tiny_bilm, tmp_path, capsys):
    assert main(["download", "tiny", MODULE, f"https://tfhub.dev/{MODULE}"]) == 0
    out, err = capsys.readouterr()
    folder = str(tmp_path / "cache" / "tiny")
    module = str(tmp_path / "cache" / "google--elmo--3" / "module")
    assert (out.splitlines(), err) == ([folder, module, module], "")
    assert BiLM.load(folder).fingerprint() == tiny_bilm.fingerprint()
    assert sorted(os.listdir(module)) == [".files.json", "saved_model.pb"]
    assert main(["download", "--quiet", "tiny", MODULE]) == 0
    assert server.requests == ["options.json", "weights.hdf5", "elmo_3.tar.gz"]


def test_a_file_that_was_changed_is_fetched_again(server, tmp_path, capsys):
    assert main(["download", "tiny"]) == 0
    weights = tmp_path / "cache" / "tiny" / "weights.hdf5"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:1000])
    assert main(["download", "tiny"]) == 0
    assert weights.read_bytes() == whole
    assert server.requests == ["options.json", "weights.hdf5", "weights.hdf5"]


def test_files_of_another_model_are_told(server, tmp_path, monkeypatch, capsys):
    publish(monkeypatch, tiny_model("tiny", pair(server.url), lstm_dim=1024))
    assert main(["download", "tiny"]) == 2
    error = capsys.readouterr().err
    assert "must be of the model 'tiny', whose LSTMs have size 1024 and projection 8" in error
    assert "Received: 12 and 8" in error and error.count("\n") == 1


def test_a_shipped_model_is_there(server, capsys):
    assert main(["download", "english-small"]) == 0
    place = capsys.readouterr().out.strip()
    assert "weights.hdf5" in os.listdir(place)
    assert server.requests == []


def test_mirror(server, tiny_directory, tmp_path, capsys):
    server.answers.clear()
    assert main(["download", "tiny", "--mirror", str(tiny_directory)]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'cache' / 'tiny'}\n"
    assert server.requests == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dark", "NAME dark: dark: the address of its files is not verified"),
        ("tinny", "Did you mean 'tiny'?"),
        ("nlpl-150", "ELMoForManyLangs"),
        ("/no/such/place", "keras_elmo presets` lists"),
    ],
)
def test_bad_names_are_one_line_before_anything_is_fetched(name, message, server, capsys):
    assert main(["download", "tiny", name]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert err.startswith(f"keras_elmo download: error: NAME {name}: ")
    assert message in err
    assert server.requests == []


def test_offline_is_one_line(server, tmp_path, capsys):
    server.answers.clear()
    assert main(["download", "tiny"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    for part in (server.url("options.json"), "HTTP 404", str(tmp_path / "cache" / "tiny")):
        assert part in err
