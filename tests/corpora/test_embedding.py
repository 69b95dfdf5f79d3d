import errno
import gzip
import io
import json
import os
import warnings

import h5py
import numpy as np
import pytest

from keras_elmo import ELMoEmbedding, embed_corpus
from keras_elmo.corpora import corpus_run, embedding, reader, sentence_index
from keras_elmo.corpora.corpus_run import CorpusRun
from keras_elmo.corpora.embedding import make_embedder
from keras_elmo.corpora.journaled_file import JournaledFile
from keras_elmo.embedder import Embedder

LINES = ["see you at 8/9", "ok", "", "ok", "한국어 문장"]
WORDS = "the cat sat on a mat and saw another cat go by".split()
MANY = [" ".join(WORDS[k % 5 : k % 5 + 1 + k % 7]) for k in range(40)]
SHAPES = {"all": (3, 2, 16), "top": (2, 16), "average": (2, 16), "elmo": (2, 16), "default": (16,)}
FORMATS = ["hdf5", "npz"]


@pytest.fixture(scope="module")
def bilm(make_tiny_bilm):
    return make_tiny_bilm()


@pytest.fixture(scope="module")
def made():
    return {}


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch, made):
    """Runs in an empty folder; an Embedder is made once, since its graph takes a second."""

    def make(layer, layers, *args, **kwargs):
        key = str((id(layer), layers, args, kwargs))
        if key not in made:
            made[key] = (*make_embedder(layer, layers, *args, **kwargs), layer)
        return made[key][:2]

    monkeypatch.setattr(embedding, "make_embedder", make)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def small_windows(monkeypatch):
    monkeypatch.setattr(reader, "LINES_AT_ONCE", 6)


def write(lines, name="in.txt"):
    content = "".join(f"{line}\n" for line in lines).encode()
    with open(name, "wb") as file:
        file.write(gzip.compress(content) if name.endswith(".gz") else content)
    return name


def read(path):
    """dict of name to array of either format."""
    if path.endswith(".npz"):
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    with h5py.File(path) as file:
        return {name: file[name][()] for name in file if name != "sentence_to_index"}


def read_all(path):
    """Everything that a reader of the file can see."""
    if path.endswith(".npz"):
        with open(path, "rb") as file:
            return file.read()
    with h5py.File(path) as file:
        arrays = {name: (file[name][()].tolist(), dict(file[name].attrs)) for name in file}
        return arrays, {name: np.asarray(value).tolist() for name, value in file.attrs.items()}


def embed_quietly(*args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return embed_corpus(*args, **kwargs)


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


def test_the_file_tells_how_it_was_made(bilm):
    embed_corpus(write(["a b"]), "out.hdf5", bilm, layers="elmo", max_tokens=9)
    with h5py.File("out.hdf5") as file:
        facts = {name: np.asarray(value).tolist() for name, value in file.attrs.items()}
    weights = facts.pop("layer_weights")
    assert weights == pytest.approx([1 / 3] * 3)
    assert len(facts.pop("text_sha256")) == 64
    assert facts.pop("keras_elmo_version")
    assert facts == {
        "layers": "elmo", "dtype": "float32", "format": "hdf5", "tokenizer": "space",
        "max_tokens": 9, "keep_boundaries": False, "bilm_sha256": bilm.fingerprint(),
        "bilm_dtype": "float32", "gamma": 1.0, "layer_norm": False, "lines": 1, "tokens": 2,
    }  # fmt: skip


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("layers", SHAPES)
def test_layers_are_those_of_the_embedding(bilm, layers, form):
    with pytest.warns(UserWarning, match="line 1 is without tokens"):
        embed_corpus(write(["", "a cat"]), f"out.{form}", bilm, layers=layers)
    found = read(f"out.{form}")
    output = "layers" if layers == "all" else layers
    expected = ELMoEmbedding(bilm, output=output, tokenizer="space")(["a cat"])[0]
    assert found["1"].shape == SHAPES[layers]
    np.testing.assert_allclose(found["1"], expected, atol=1e-5)
    assert found["0"].shape == tuple(0 if n == 2 else n for n in SHAPES[layers])
    assert not found["0"].any()


def test_half_precision_on_request(bilm):
    write(["a cat"])
    embed_corpus("in.txt", "one.h5", bilm)
    embed_corpus("in.txt", "half.h5", bilm, dtype="float16")
    one, half = read("one.h5")["0"], read("half.h5")["0"]
    assert (one.dtype, half.dtype) == ("float32", "float16")
    np.testing.assert_allclose(half, one, rtol=1e-3, atol=1e-4)


def test_numbers_too_large_for_half_precision_are_told(bilm):
    options = {"layers": "elmo", "dtype": "float16", "initial_gamma": 1e6}
    with pytest.raises(ValueError, match="^Line 2: vectors must be finite in float16"):
        embed_corpus(write(["", "a cat"]), "out.h5", bilm, **options)


def test_options_go_to_the_embedding(bilm):
    embed_corpus(
        write(["it's me!"]), "out.npz", bilm, layers="elmo", tokenizer="words",
        initial_scalars=[0.0, 50.0, 0.0], initial_gamma=2.0,
    )  # fmt: skip
    layer = ELMoEmbedding(bilm, output="lstm_outputs1", tokenizer="words")
    np.testing.assert_allclose(read("out.npz")["0"], 2 * layer(["it's me!"])[0], atol=1e-5)


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


def test_a_layer_without_a_mix_can_give_one(bilm):
    embed_corpus(write(["a cat"]), "out.npz", ELMoEmbedding(bilm, output="top"), "elmo")
    expected = ELMoEmbedding(bilm, output="average")(["a cat"])[0]
    np.testing.assert_allclose(read("out.npz")["0"], expected, atol=1e-5)


def test_several_files_count_on(bilm):
    files = [write(["a", "b c"], "a.txt.gz"), write(["d e f"], "b.txt")]
    embed_corpus(files, "out.npz", bilm, layers="top")
    assert {name: len(array) for name, array in read("out.npz").items()} == {
        "0": 1, "1": 2, "2": 3,
    }  # fmt: skip


@pytest.mark.parametrize("form", FORMATS)
def test_text_without_lines_gives_a_file_without_arrays(bilm, form):
    assert embed_corpus(write([]), f"out.{form}", bilm) == (0, 0)
    assert read(f"out.{form}") == {}


def test_windows_change_nothing_but_the_last_digits(bilm, monkeypatch):
    write(MANY)
    embed_corpus("in.txt", "one.npz", bilm, layers="top")
    monkeypatch.setattr(reader, "LINES_AT_ONCE", 7)
    embed_corpus("in.txt", "two.npz", bilm, layers="top")
    one, two = read("one.npz"), read("two.npz")
    assert list(one) == list(two) == [str(k) for k in range(40)]
    for name, array in one.items():
        np.testing.assert_allclose(array, two[name], atol=1e-5)


def test_progress_is_told(bilm, small_windows):
    seen = []
    embed_corpus(write(MANY), "out.npz", bilm, layers="default", progress=seen.append)
    assert [report.lines for report in seen] == [6, 12, 18, 24, 30, 36, 40]
    assert seen[-1] == (40, len(" ".join(MANY).split()), 40)


@pytest.mark.parametrize("form", FORMATS)
def test_texts_that_hdf5_cannot_hold(bilm, form):
    lines = ["a\0b \0", "x" * 70_000]
    embed_corpus(write(lines), f"out.{form}", bilm, layers="top")
    assert read(f"out.{form}")["0"].shape == (2, 16)
    if form == "hdf5":
        with h5py.File("out.hdf5") as file:
            assert file["0"].attrs["text"] == "a\ufffdb \ufffd"
            assert file["1"].attrs["text"] == lines[1]
            assert json.loads(file["sentence_to_index"][0]) == {lines[0]: "0", lines[1]: "1"}


def test_too_many_sentences_have_no_index(bilm, monkeypatch, small_windows):
    monkeypatch.setattr(sentence_index, "MOST_BYTES", 30)
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


class Interrupt(Exception):
    """What ends a run from outside."""


def interrupt_after(most):
    def progress(report):
        if report.lines > most:
            raise Interrupt

    return progress


@pytest.mark.parametrize("form", FORMATS)
def test_interrupted_anywhere_it_goes_on_to_the_same_content(
    bilm, small_windows, form, monkeypatch
):
    lines = [*MANY, "", "ok", ""]
    output = f"out.{form}"
    embed_quietly(write(lines), f"whole.{form}", bilm)
    expected = read_all(f"whole.{form}")
    for most in (3, 17, 19, 40):
        with pytest.raises(Interrupt):
            embed_corpus("in.txt", output, bilm, progress=interrupt_after(most))
        assert sorted(os.listdir()) == ["in.txt", f"out.{form}.partial", f"whole.{form}"]
    seen = []
    with pytest.warns(UserWarning, match=r"2 lines \(41, 43\) are without tokens"):
        result = embed_corpus("in.txt", output, bilm, progress=seen.append)
    assert seen[0].lines > 36  # nothing is embedded twice but a window
    assert result.lines == 43
    assert read_all(output) == expected
    assert sorted(os.listdir()) == ["in.txt", output, f"whole.{form}"]


@pytest.mark.parametrize("form", FORMATS)
def test_cut_off_at_any_write_it_goes_on_to_the_same_content(
    bilm, small_windows, form, monkeypatch
):
    embed_corpus(write(MANY), f"whole.{form}", bilm, layers="top")
    to_file = JournaledFile._to_file
    left = 0

    def cut_off(self, start, content):
        nonlocal left
        left -= 1
        to_file(self, start, content[: len(content) // 2] if left <= 0 else content)
        if left <= 0:
            raise Interrupt

    monkeypatch.setattr(JournaledFile, "_to_file", cut_off)
    for most in range(2, 400):
        left = most
        try:
            embed_corpus("in.txt", f"out.{form}", bilm, layers="top")
        except Interrupt:
            assert not os.path.exists(f"out.{form}")
        else:
            break
    assert most > 15
    assert read_all(f"out.{form}") == read_all(f"whole.{form}")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("method", ["finish", "close"])
def test_interrupted_at_the_end_it_is_finished_later(bilm, form, method, monkeypatch):
    write(MANY)
    embed_corpus("in.txt", f"whole.{form}", bilm)
    store = corpus_run.STORES[form]
    original = getattr(store, method)

    def interrupted(self, *args):
        original(self, *args)
        raise Interrupt

    with monkeypatch.context() as patch:
        patch.setattr(store, method, interrupted)
        with pytest.raises(Interrupt):
            embed_corpus("in.txt", f"out.{form}", bilm)
    embed_corpus("in.txt", f"out.{form}", bilm)
    assert read_all(f"out.{form}") == read_all(f"whole.{form}")


@pytest.mark.parametrize("form", FORMATS)
def test_whole_but_not_yet_moved_it_is_moved_later(bilm, form, monkeypatch):
    write(MANY)
    embed_corpus("in.txt", f"whole.{form}", bilm)

    def interrupted(*_):
        raise Interrupt

    with monkeypatch.context() as patch:
        patch.setattr(JournaledFile, "publish", interrupted)
        with pytest.raises(Interrupt):
            embed_corpus("in.txt", f"out.{form}", bilm)
    monkeypatch.setattr(Embedder, "runs", interrupted)
    embed_corpus("in.txt", f"out.{form}", bilm)
    assert read_all(f"out.{form}") == read_all(f"whole.{form}")


def begin(lines=MANY, output="out.npz", text="in.txt", **kwargs):
    """A run that is interrupted after some lines."""
    write(lines)
    with pytest.raises(Interrupt):
        embed_corpus(text, output, progress=interrupt_after(13), **kwargs)


def test_a_run_of_other_options_is_an_error_that_lists_them(bilm, make_tiny_bilm, small_windows):
    begin(layer=bilm)
    options = {"layers": "top", "dtype": "float16", "tokenizer": "words", "max_tokens": 5}
    with pytest.raises(ValueError, match=r"out.npz.partial must be of a run with") as error:
        embed_corpus("in.txt", "out.npz", make_tiny_bilm(seed=1), **options)
    for change in (
        "`layers` was 'all', now 'top'", "`dtype` was 'float32', now 'float16'",
        "`tokenizer` was 'space', now 'words'", "`max_tokens` was None, now 5",
        f"`bilm_sha256` was '{bilm.fingerprint()}', now", "overwrite=True",
    ):  # fmt: skip
        assert change in str(error.value)
    assert "text was" not in str(error.value)
    embed_corpus("in.txt", "out.npz", bilm)
    assert len(read("out.npz")) == 40


def test_another_mix_is_another_run(bilm, small_windows):
    begin(layer=bilm, layers="elmo")
    with pytest.raises(ValueError, match=r"`layer_weights` was \[.*`gamma` was 1.0, now 2.0"):
        embed_corpus("in.txt", "out.npz", bilm, "elmo", initial_scalars=[1, 0, 0], initial_gamma=2)


def test_another_text_is_another_run(bilm, small_windows):
    begin(layer=bilm)
    write([*MANY, "one more"])
    with pytest.raises(ValueError, match="the text was 40 lines of sha256 .*, now 41 lines"):
        embed_corpus("in.txt", "out.npz", bilm)
    assert embed_corpus("in.txt", "out.npz", bilm, overwrite=True).lines == 41


def test_the_same_text_in_another_file_is_the_same(bilm, small_windows):
    begin(layer=bilm)
    seen = []
    embed_corpus(write(MANY, "again.txt.gz"), "out.npz", bilm, overwrite=True, progress=seen.append)
    assert seen[0].lines == 18  # `overwrite` goes on too, where it can


def test_a_stream_is_read_again_and_checked(bilm, small_windows):
    content = "\n".join(MANY).encode()
    begin(layer=bilm, text=io.BytesIO(content))
    with pytest.raises(ValueError, match="must begin with the 12 lines that are in out.npz.part"):
        embed_corpus(io.BytesIO(b"x" + content), "out.npz", bilm)
    with pytest.raises(ValueError, match="must begin with the 12 lines"):
        embed_corpus(io.BytesIO(content[:40]), "out.npz", bilm)
    seen = []
    embed_corpus(io.BytesIO(content), "out.npz", bilm, progress=seen.append)
    assert (seen[0].lines, seen[0].total) == (18, None)
    embed_corpus("in.txt", "whole.npz", bilm)
    assert read_all("out.npz") == read_all("whole.npz")


def test_text_that_changes_meanwhile_is_told(bilm, small_windows):
    def progress(report):
        if report.lines == 6:
            with open("in.txt", "a") as file:
                file.write("one more\n")

    with pytest.raises(ValueError, match="stay as it is while it is embedded, 40 lines.*41 lines"):
        embed_corpus(write(MANY), "out.npz", bilm, progress=progress)
    assert not os.path.exists("out.npz")


@pytest.mark.parametrize("form", FORMATS)
def test_a_full_disk_keeps_what_is_saved(bilm, small_windows, form, monkeypatch):
    write(MANY)
    to_file = JournaledFile._to_file

    def full(self, start, content):
        if start + len(content) > 14_000:
            raise OSError(errno.ENOSPC, "No space left on device")
        to_file(self, start, content)

    with monkeypatch.context() as patch:
        patch.setattr(JournaledFile, "_to_file", full)
        with pytest.raises(OSError, match="No space left"):
            embed_corpus("in.txt", f"out.{form}", bilm)
    assert sorted(os.listdir()) == ["in.txt", f"out.{form}.partial"]
    seen = []
    embed_corpus("in.txt", f"out.{form}", bilm, progress=seen.append)
    assert seen[0].lines > 6
    assert len(read(f"out.{form}")) == 40


def test_existing_output_stays_until_the_new_one_is_whole(bilm, small_windows):
    embed_corpus(write(["ok"]), "out.npz", bilm)
    write(MANY)
    with pytest.raises(FileExistsError, match="out.npz exists. Give another output, or replace"):
        embed_corpus("in.txt", "out.npz", bilm)
    for most in (13, 25):
        with pytest.raises(Interrupt):
            embed_corpus("in.txt", "out.npz", bilm, overwrite=True, progress=interrupt_after(most))
        assert len(read("out.npz")) == 1
    embed_corpus("in.txt", "out.npz", bilm, overwrite=True)
    assert len(read("out.npz")) == 40


def test_output_that_appeared_meanwhile_is_not_replaced(bilm):
    def progress(report):
        write(["mine"], "out.npz")

    with pytest.raises(FileExistsError, match="out.npz exists"):
        embed_corpus(write(MANY), "out.npz", bilm, progress=progress)
    with open("out.npz", "rb") as file:
        assert file.read() == b"mine\n"
    os.remove("out.npz")
    embed_corpus("in.txt", "out.npz", bilm)
    assert len(read("out.npz")) == 40


@pytest.mark.parametrize(
    ("output", "options", "error", "message"),
    [
        ("out.txt", {}, ValueError, "must end in .hdf5, .h5, .npz, or `format` be one of"),
        ("out.npz", {"format": "csv"}, ValueError, "format='csv'"),
        ("folder.npz", {}, IsADirectoryError, "folder.npz is a directory"),
        ("in.txt", {"format": "npz"}, ValueError, "in.txt is among the files to read"),
        ("none/out.npz", {}, FileNotFoundError, "there is no directory .*none"),
        ("taken.npz", {}, FileExistsError, "taken.npz.partial must be free"),
        ("out.npz", {"layers": "both"}, ValueError, "`layers` must be one of"),
        ("out.npz", {"dtype": "int8"}, ValueError, "`dtype` must be one of"),
        ("out.npz", {"max_tokens": 0}, ValueError, "`max_tokens` must be a whole number >= 1"),
        ("out.npz", {"overwrite": 1}, TypeError, "`overwrite` must be True or False"),
    ],
)
def test_bad_arguments_are_told_and_nothing_is_made(bilm, output, options, error, message):
    os.mkdir("folder.npz")
    write(["x"], "taken.npz.partial")
    write(["a"])
    before = sorted(os.listdir())
    with pytest.raises(error, match=message):
        embed_corpus("in.txt", output, bilm, **options)
    assert sorted(os.listdir()) == before


def test_a_layer_takes_no_options_and_has_one_mix(bilm):
    write(["a"])
    with pytest.raises(ValueError, match="no options beside it. Received: .*'tokenizer'"):
        embed_corpus("in.txt", "out.npz", ELMoEmbedding(bilm), tokenizer="words")
    with pytest.raises(ValueError, match="must have one mix.*num_mixes=2"):
        embed_corpus("in.txt", "out.npz", ELMoEmbedding(bilm, num_mixes=2))


def test_format_wins_over_the_ending(bilm):
    embed_corpus(write(["a cat"]), "out.elmo", bilm, format="npz")
    with np.load("out.elmo") as file:
        assert file.files == ["0"]


def test_two_runs_cannot_write_the_same_output(bilm):
    write(MANY)
    with CorpusRun(["in.txt"], "out.npz", Embedder(bilm, output="top")):
        with pytest.raises(BlockingIOError, match="out.npz.partial is being written by another"):
            embed_corpus("in.txt", "out.npz", bilm, layers="top")


def test_nothing_is_remembered_of_lines(bilm, small_windows, monkeypatch):
    # What is held between two commits does not grow with the lines before.
    held = []
    commit = JournaledFile.commit

    def watch(self, note):
        held.append(len(self._pages))
        commit(self, note)

    monkeypatch.setattr(JournaledFile, "commit", watch)
    embed_corpus(write(["a cat"] * 300), "out.npz", bilm, layers="default")
    assert len(held) == 52
    assert max(held) <= 1
