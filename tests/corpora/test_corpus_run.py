import io
import os
import shutil
import signal
import types

import pytest
from written_corpus import FORMATS, MANY, embed_quietly, read, read_all, write

from keras_elmo import ELMoEmbedding, embed_corpus
from keras_elmo.basics import files
from keras_elmo.corpora import corpus_run
from keras_elmo.corpora.corpus_run import CorpusRun
from keras_elmo.embedding.embedder import Embedder
from keras_elmo.layers.scalar_mix import ScalarMix


class Interrupt(Exception):
    """What ends a run from outside."""


def interrupt_after(most):
    def progress(report):
        if report.lines > most:
            raise Interrupt

    return progress


@pytest.mark.parametrize("form", FORMATS)
def test_interrupted_anywhere_it_goes_on_to_the_same_content(bilm, small_windows, form):
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


@pytest.fixture
def watched(monkeypatch):
    """Calls a function before each step by which files appear or go, as long as it is set."""
    on = types.SimpleNamespace(step=lambda: None)

    def watch(place, name):
        original = getattr(place, name)

        def watching(*args, **kwargs):
            on.step()
            return original(*args, **kwargs)

        monkeypatch.setattr(place, name, watching)

    watch(files.os, "replace")
    watch(files.os, "fsync")
    watch(files.Path, "unlink")
    return on


def test_killed_at_any_step_it_goes_on_to_the_same_content(bilm, small_windows, watched):
    output = "out.hdf5"
    embed_corpus(write(MANY[:10]), "whole.hdf5", bilm, layers="top")
    expected, left = read_all("whole.hdf5"), []

    def copy():
        """What a kill would leave at this step."""
        left.append(f"{len(left)}.left")
        os.mkdir(left[-1])
        for name in filter(os.path.exists, [output, f"{output}.partial"]):
            (shutil.copytree if os.path.isdir(name) else shutil.copy)(name, f"{left[-1]}/{name}")

    watched.step = copy
    embed_corpus("in.txt", output, bilm, layers="top")
    watched.step = lambda: None
    assert len(left) > 15
    for folder in left:
        if os.path.exists(f"{folder}/{output}"):
            assert read_all(f"{folder}/{output}") == expected
        embed_corpus("in.txt", f"{folder}/{output}", bilm, layers="top", overwrite=True)
        assert os.listdir(folder) == [output]
        assert read_all(f"{folder}/{output}") == expected


def test_all_embedded_but_not_joined_it_is_only_joined_later(bilm, monkeypatch):
    embed_corpus(write(MANY), "whole.npz", bilm)

    def interrupted(*_):
        raise Interrupt

    with monkeypatch.context() as patch:
        patch.setitem(corpus_run.WRITERS, "npz", interrupted)
        with pytest.raises(Interrupt):
            embed_corpus("in.txt", "out.npz", bilm)
    monkeypatch.setattr(Embedder, "runs", interrupted)
    embed_corpus("in.txt", "out.npz", bilm)
    assert read_all("out.npz") == read_all("whole.npz")


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


def test_another_mix_is_another_run_and_other_layers_are_one_difference(bilm, small_windows):
    begin(layer=bilm, layers="elmo")
    with pytest.raises(ValueError, match=r"others: `layers` was 'elmo', now 'all'. Give the"):
        embed_corpus("in.txt", "out.npz", bilm)
    with pytest.raises(ValueError, match=r"`layer_weights` was \[.*`gamma` was 1.0, now 2.0"):
        mix = ScalarMix(initial_scalars=[1, 0, 0], initial_gamma=2)
        embed_corpus("in.txt", "out.npz", bilm, "elmo", mix=mix)


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


@pytest.fixture
def full_disk():
    """Lets a file have so many bytes only."""
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    signal.signal(signal.SIGXFSZ, before)


# of the second part, of the joined file, which HDF5 would end the process for
@pytest.mark.parametrize(("form", "size"), [("npz", 2_000), ("hdf5", 12_000)])
def test_a_full_disk_keeps_what_is_saved(bilm, small_windows, form, full_disk, size):
    write(["ok"] * 6 + ["a b c d e f g h"] * 34)
    full_disk(size)
    with pytest.raises(OSError, match="File too large"):
        embed_corpus("in.txt", f"out.{form}", bilm, layers="top")
    full_disk(-1)
    assert sorted(os.listdir()) == ["in.txt", f"out.{form}.partial"]
    with CorpusRun(["in.txt"], f"out.{form}", Embedder(bilm, output="top")) as run:
        assert run.saved.lines == (6 if size == 2_000 else 40)
    embed_corpus("in.txt", f"out.{form}", bilm, layers="top")
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
        ("out.txt", {}, ValueError, "must end in .hdf5, .h5, .npz, or its format be given"),
        ("out.npz", {"format": "csv"}, ValueError, "format 'csv'"),
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


def test_two_runs_cannot_write_the_same_output(bilm):
    write(MANY)
    with CorpusRun(["in.txt"], "out.npz", Embedder(bilm, output="top")):
        with pytest.raises(BlockingIOError, match="out.npz.partial is being written by another"):
            embed_corpus("in.txt", "out.npz", bilm, layers="top")
