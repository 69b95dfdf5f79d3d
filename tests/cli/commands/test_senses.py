import json
import os

import numpy as np
import pytest

from keras_elmo import ELMoEmbedding, Embedder
from keras_elmo.cli.commands.senses import FIELDS, Place
from keras_elmo.cli.main import main

LINES = [
    "we sat on the bank , by the water",
    "",
    "a banker went home",
    "Bank or bank ?",
    "on the shore we sat",
    "the bank lent us money for a house and a barn",
]
PLACES = [(1, 4), (4, 0), (4, 2), (6, 1)]  # of bank


@pytest.fixture
def text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("\n".join(LINES) + "\n")
    return "text"


def run(source, *options):
    return main(["senses", str(source), *options])


def records(out):
    return [json.loads(line) for line in out.splitlines()]


def vectors_of(bilm, output, places=PLACES):
    embedder = Embedder(ELMoEmbedding(bilm, output=output, inputs="tokens"))
    found = embedder.embed([LINES[line - 1].split() for line, _ in places])
    return np.stack([rows[position] for rows, (_, position) in zip(found, places, strict=True)])


@pytest.mark.parametrize(("layer", "output"), [("0", "word_emb"), ("1", "lstm_outputs1")])
def test_neighbours_are_those_of_the_layer(layer, output, tiny_directory, tiny_bilm, text, capsys):
    options = ["--format", "json", "--layer", layer]
    assert run(tiny_directory, text, "--word", "bank", *options) == 0
    found = records(capsys.readouterr().out)
    vectors = vectors_of(tiny_bilm, output)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = units @ units.T
    assert len(found) == 4 * 3
    for at, place in enumerate(PLACES):
        own = [record for record in found if (record["line"], record["position"]) == place]
        assert [record["rank"] for record in own] == [1, 2, 3]
        expected = np.sort(np.delete(cosines[at], at))[::-1]
        np.testing.assert_allclose([record["cosine"] for record in own], expected, atol=1e-5)
        near = [PLACES.index((record["near_line"], record["near_position"])) for record in own]
        np.testing.assert_allclose(cosines[at, near], expected, atol=1e-5)


def test_tsv_shows_contexts(tiny_directory, text, capsys):
    assert run(tiny_directory, text, "--word", "BANK", "--neighbours", "1") == 0
    names, *rows = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert tuple(names) == FIELDS
    assert [row[2] for row in rows] == [
        "we sat on the bank , by the water",
        "Bank or bank ?",
        "Bank or bank ?",
        "the bank lent us money for …",
    ]
    assert run(tiny_directory, text, "--word", "bank", "--no-header", "--most", "2") == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_context_is_cut_on_both_sides():
    tokens = [f"t{k}" for k in range(9)]
    assert Place("t4", 1, 4, tokens).context(2) == "… t2 t3 t4 t5 t6 …"
    assert Place("t0", 1, 0, tokens).context(1) == "t0 t1 …"


def test_map_and_projector_files_of_several_words(tiny_directory, tiny_bilm, text, capsys):
    options = ["--plots", "new/pictures", "--projector", "new/logs", "--output", "out.tsv"]
    assert run(tiny_directory, text, "--word", "bank", "--word", "shore", *options) == 0
    assert capsys.readouterr() == ("", "")
    assert os.listdir("new/pictures") == ["sense-map.png"]
    with open("new/logs/metadata.tsv", encoding="utf-8") as file:
        names, *rows = (line.rstrip("\n").split("\t") for line in file)
    assert names == ["context", "word", "line", "position"]
    assert [row[1] for row in rows] == ["bank", "bank", "bank", "shore", "bank"]
    read = np.loadtxt("new/logs/vectors.tsv", delimiter="\t", dtype=np.float32)
    places = [*PLACES[:3], (5, 2), PLACES[3]]
    np.testing.assert_allclose(read, vectors_of(tiny_bilm, "top", places), atol=1e-6)
    for option, place in (("--plots", "new/pictures"), ("--projector", "new/logs")):
        assert run(tiny_directory, text, "--word", "bank", option, place) == 2
        out, error = capsys.readouterr()
        assert out == "" and error.count("\n") == 1 and "exists. Give another" in error
    assert run(tiny_directory, text, "--word", "bank", *options, "--overwrite") == 0
    with open("new/logs/vectors.tsv", encoding="utf-8") as file:
        assert len(file.readlines()) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--word", "cow"], "--word cow: 0 of the 2 places in the text"),
        (["--word", "shore"], "1 of the 2 places"),
        (["--word", "the bank"], "must be one word without spaces, not 'the bank'"),
        (["--word", ""], "must be one word"),
        ([], "required: --word"),
        (["--word", "bank", "--layer", "3"], "are 0 to 2. Give one of these, top or elmo"),
        (["--word", "bank", "--layer", "x"], "must be a layer's number from 0, top or elmo"),
        (["--word", "bank", "--neighbours", "0"], "at least 1"),
        (["--word", "bank", "--projector", "text"], "--projector: text is a file"),
        (["--word", "bank", "--plots", "text"], "--plots: text is a file"),
        (["--word", "bank", "--output", "text"], "--output: text is among the files to read"),
    ],
)
def test_bad_input_is_one_line(options, message, tiny_directory, text, capsys):
    assert run(tiny_directory, text, *options) == 2
    out, error = capsys.readouterr()
    assert out == "" and error.count("\n") == 1
    assert error.startswith("keras_elmo senses: error: ") and message in error
    assert os.listdir() == ["text"]
