import json
import os
import zipfile

import h5py
import numpy as np
import pytest
from written_corpus import FORMATS, LINES, MANY, SHAPES, read, write

from keras_elmo import ELMoEmbedding, embed_corpus
from keras_elmo.corpora import corpus_run, reader, writers
from keras_elmo.layers.scalar_mix import ScalarMix


def test_every_line_is_stored_by_its_number_and_a_blank_one_is_told(bilm):
    with pytest.warns(UserWarning) as told:
        result = embed_corpus(write(LINES), "out.hdf5", bilm)
    assert [str(warning.message) for warning in told] == [
        "out.hdf5: line 3 is without tokens, so without vectors."
    ]
    assert result == (5, 8)
    with h5py.File("out.hdf5") as file:
        assert set(file) == {"0", "1", "2", "3", "4", "sentence_to_index"}
        shapes = [file[str(k)].shape for k in range(5)]
        assert shapes == [(3, 4, 16), (3, 1, 16), (3, 0, 16), (3, 1, 16), (3, 2, 16)]
        assert {file[str(k)].dtype for k in range(5)} == {np.dtype("float32")}
        assert [file[str(k)].attrs["text"] for k in range(5)] == LINES
        assert json.loads(file["sentence_to_index"][0]) == {
            "see you at 8/9": "0", "ok": "1", "": "2", "한국어 문장": "4",
        }  # fmt: skip
    expected = ELMoEmbedding(bilm, output="layers", tokenizer="space")(LINES)
    found = read("out.hdf5")
    for k, length in enumerate([4, 1, 0, 1, 2]):
        np.testing.assert_allclose(found[str(k)], expected[k, :, :length], atol=1e-5)
    assert sorted(os.listdir()) == ["in.txt", "out.hdf5"]


def test_options_go_to_the_embedding_and_the_file_tells_them(bilm):
    mix = ScalarMix(initial_scalars=[0.0, 50.0, 0.0], initial_gamma=2.0)
    options = {"layers": "elmo", "max_tokens": 9, "tokenizer": "words", "mix": mix}
    embed_corpus(write(["it's me!"]), "out.hdf5", bilm, **options)
    layer = ELMoEmbedding(bilm, output="lstm_outputs1", tokenizer="words")
    np.testing.assert_allclose(read("out.hdf5")["0"], 2 * layer(["it's me!"])[0], atol=1e-5)
    with h5py.File("out.hdf5") as file:
        facts = {name: np.asarray(value).tolist() for name, value in file.attrs.items()}
    weights = facts.pop("layer_weights")
    assert weights == pytest.approx([0.0, 1.0, 0.0])
    assert len(facts.pop("text_sha256")) == 64
    assert facts.pop("keras_elmo_version")
    assert facts == {
        "layers": "elmo", "dtype": "float32", "format": "hdf5", "tokenizer": "words",
        "max_tokens": 9, "keep_boundaries": False, "bilm_sha256": bilm.fingerprint(),
        "bilm_dtype": "float32", "gamma": 2.0, "layer_norm": False, "lines": 1, "tokens": 3,
    }  # fmt: skip


def test_an_npz_file_is_whole_in_line_order_whatever_the_windows_and_dtype(bilm, monkeypatch):
    embed_corpus(write(MANY), "at once.h5", bilm, layers="top")
    monkeypatch.setattr(reader, "LINES_AT_ONCE", 6)
    seen = []
    options = {"layers": "top", "dtype": "float16", "format": "npz"}
    embed_corpus("in.txt", "out.elmo", bilm, **options, progress=seen.append)
    assert [report.lines for report in seen] == [6, 12, 18, 24, 30, 36, 40]
    assert seen[-1] == (40, len(" ".join(MANY).split()), 40)
    os.rename("out.elmo", "out.npz")
    with zipfile.ZipFile("out.npz") as archive:
        assert archive.namelist() == [f"{k}.npy" for k in range(40)]
        assert archive.testzip() is None  # every checksum is right
        facts = json.loads(archive.comment)
    assert (facts["layers"], facts["lines"]) == ("top", 40)
    assert facts["bilm_sha256"] == bilm.fingerprint()
    once = read("at once.h5")
    for name, array in read("out.npz").items():
        assert (array.dtype, once[name].dtype) == ("float16", "float32")
        np.testing.assert_allclose(array, once[name], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("layers", ["all", "average", "default"])
def test_layers_are_those_of_the_embedding(bilm, layers):
    with pytest.warns(UserWarning, match="line 1 is without tokens"):
        embed_corpus(write(["", "a cat"]), "out.npz", bilm, layers=layers)
    found = read("out.npz")
    output = "layers" if layers == "all" else layers
    expected = ELMoEmbedding(bilm, output=output, tokenizer="space")(["a cat"])[0]
    assert found["1"].shape == SHAPES[layers]
    np.testing.assert_allclose(found["1"], expected, atol=1e-5)
    assert found["0"].shape == tuple(0 if n == 2 else n for n in SHAPES[layers])
    assert not found["0"].any()


def test_numbers_too_large_for_half_precision_are_told(bilm):
    options = {"layers": "elmo", "dtype": "float16", "mix": ScalarMix(initial_gamma=1e6)}
    with pytest.raises(ValueError, match="^Line 2: vectors must be finite in float16"):
        embed_corpus(write(["", "a cat"]), "out.h5", bilm, **options)


def test_a_trained_layer_gives_its_mix_and_rules(bilm):
    layer = ELMoEmbedding(bilm, tokenizer="words", max_tokens=2)
    scalars = np.array([0.3, -1.0, 0.5], np.float32)
    layer.mixes[0].set_weights([scalars, np.float32(1.7)])
    with pytest.warns(UserWarning, match="line 1 is cut to the first 2 tokens"):
        embed_corpus(write(["oh, a cat"]), "out.npz", layer, layers="elmo")
    all_layers = ELMoEmbedding(bilm, output="layers")([["oh", ","]])[0]
    weights = np.exp(scalars) / np.exp(scalars).sum()
    expected = 1.7 * np.einsum("l,ltd->td", weights, all_layers)
    np.testing.assert_allclose(read("out.npz")["0"], expected, atol=1e-5)


def test_several_files_count_on(bilm):
    files = [write(["a", "b c"], "a.txt.gz"), write(["d e f"], "b.txt")]
    embed_corpus(files, "out.npz", bilm, layers="top")
    assert {name: len(array) for name, array in read("out.npz").items()} == {
        "0": 1, "1": 2, "2": 3,
    }  # fmt: skip


@pytest.mark.parametrize("form", FORMATS)
def test_text_without_lines_gives_a_file_without_arrays(bilm, form):
    with pytest.warns(UserWarning, match="the text has no line, so no vectors"):
        assert embed_corpus(write([]), f"out.{form}", bilm) == (0, 0)
    assert read(f"out.{form}") == {}


def test_texts_that_hdf5_cannot_hold(bilm):
    lines = ["a\0b \0", "x" * 70_000]
    embed_corpus(write(lines), "out.hdf5", bilm, layers="top")
    assert read("out.hdf5")["0"].shape == (2, 16)
    with h5py.File("out.hdf5") as file:
        assert file["0"].attrs["text"] == "a\ufffdb \ufffd"
        assert file["1"].attrs["text"] == lines[1]
        assert json.loads(file["sentence_to_index"][0]) == {lines[0]: "0", lines[1]: "1"}


def test_too_many_sentences_have_no_index(bilm, monkeypatch, small_windows):
    monkeypatch.setattr(writers, "MOST_BYTES_OF_INDEX", 30)
    embed_corpus(write(["ok"] * 30), "few.hdf5", bilm, layers="top")
    embed_corpus(write(MANY), "many.hdf5", bilm, layers="top")
    with h5py.File("few.hdf5") as few, h5py.File("many.hdf5") as many:
        assert json.loads(few["sentence_to_index"][0]) == {"ok": "0"}
        assert set(many) == {str(k) for k in range(40)}


def test_many_remarkable_lines_are_one_warning_each(bilm, small_windows):
    lines = ["", "a b c"] * 12
    with pytest.warns(UserWarning) as told:
        embed_corpus(write(lines), "out.npz", bilm, max_tokens=2)
    assert [str(warning.message) for warning in told] == [
        "out.npz: 12 lines (1, 3, 5, 7, 9, 11, 13, 15, 17, 19, ...) are without tokens, so "
        "without vectors.",
        "out.npz: 12 lines (2, 4, 6, 8, 10, 12, 14, 16, 18, 20, ...) are cut to the first 2 "
        "tokens.",
    ]
    assert {len(array[0]) for array in read("out.npz").values()} == {0, 2}


def test_a_line_that_would_take_all_memory_is_found_before_work_begins(bilm, monkeypatch):
    monkeypatch.setattr(corpus_run, "MOST_BYTES", 4 * 3 * 16 * 5)  # five tokens
    write(["a b c d e", "abcdefgh", "a b c d e f"])
    with pytest.raises(ValueError, match="^Line 3: a line must have at most 5 tokens.*: 6. Split"):
        embed_corpus("in.txt", "out.npz", bilm)
    assert os.listdir() == ["in.txt"]
    with open("in.txt", "rb") as stream, pytest.raises(ValueError, match="^Line 3"):
        embed_corpus(stream, "out.npz", bilm)
    with pytest.warns(UserWarning, match="line 3 is cut"):
        embed_corpus("in.txt", "long.npz", bilm, max_tokens=5)
