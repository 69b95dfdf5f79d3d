"""`keras_elmo embed`."""

import io
import os
import re
import signal
import subprocess
import sys

import h5py
import numpy as np
import pytest

from keras_elmo.basics import files
from keras_elmo.cli.commands import embed
from keras_elmo.cli.main import main
from keras_elmo.corpora import reader
from keras_elmo.corpora.embed_corpus import make_embedder
from keras_elmo.embedding.embedder import Embedder

LINES = [f"see you at {k}/9" for k in range(30)]
# A process that is killed in its n-th step of making a file lasting, in windows of six lines.
KILLED = """
import os, signal, sys
from keras_elmo.cli.main import main
from keras_elmo.corpora import reader

left, fsync, reader.LINES_AT_ONCE = int(sys.argv[1]), os.fsync, 6

def killed(handle):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    fsync(handle)

os.fsync = killed
sys.exit(main(sys.argv[2:]))
"""


@pytest.fixture(scope="module")
def made():
    return {}


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch, made):
    """Runs in an empty folder, in small windows; an Embedder is made once."""

    def make(*args, **kwargs):
        key = str((args, kwargs))
        if key not in made:
            made[key] = make_embedder(*args, **kwargs)
        return made[key]

    monkeypatch.setattr("keras_elmo.corpora.embed_corpus.make_embedder", make)
    monkeypatch.setattr(reader, "LINES_AT_ONCE", 6)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def model(tiny_directory):
    return "--model", str(tiny_directory)


def write(lines=LINES, name="in.txt"):
    with open(name, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
    return name


def read(path):
    with h5py.File(path) as file:
        return {name: file[name][()].tolist() for name in file}


def one_line(capsys):
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("keras_elmo embed: error: ")
    return err


def test_every_line_by_its_number_and_blank_ones_told(model, capsys):
    write(["see you at 8/9", "", "ok"])
    assert main(["embed", "in.txt", "out.hdf5", *model]) == 0
    out, err = capsys.readouterr()
    assert out == "written to out.hdf5: 3 lines, 5 tokens\n"
    assert err == "warning: out.hdf5: line 2 is without tokens, so without vectors\n"
    with h5py.File("out.hdf5") as file:
        assert [file[str(k)].shape for k in range(3)] == [(3, 4, 16), (3, 0, 16), (3, 1, 16)]
    assert sorted(os.listdir()) == ["in.txt", "out.hdf5"]


def test_a_text_without_a_line_is_told(model, capsys):
    write([])
    assert main(["embed", "in.txt", "out.hdf5", *model]) == 0
    assert capsys.readouterr().err == "warning: out.hdf5: the text has no line, so no vectors\n"


def test_progress_shows_speed_and_time_left_unless_quiet(model, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    options = [*model, "--layers", "top"]
    assert main(["embed", write(), "out.npz", *options]) == 0
    last = capsys.readouterr().err.split("\r")[-1]
    assert "30/30" in last and "tokens/s" in last and "<" in last
    assert main(["embed", "in.txt", "out.npz", *options, "--overwrite", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_options_reach_the_vectors(model, tiny_bilm):
    write(["it's me!"])
    options = ["--layers", "elmo", "--scalars=-50,0,-50", "--gamma", "2", "--tokenizer", "words"]
    options += ["--dtype", "float16", "--format", "npz", "--max-tokens", "2"]
    assert main(["embed", "in.txt", "out.elmo", *model, *options]) == 0
    expected = 2 * tiny_bilm.embed_tokens([["it's", "me"]]).layers[0, 1, 1:3]
    with np.load("out.elmo") as file:
        assert file["0"].dtype == np.float16
        np.testing.assert_allclose(file["0"], expected, rtol=2e-3, atol=1e-3)


def test_patterns_and_standard_input(model, capsys, monkeypatch):
    write(["a"], "a-1.txt"), write(["b c"], "a-2.txt")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"d e f")))
    assert main(["embed", "a-*.txt", "-", "out.npz", *model, "--layers", "top"]) == 0
    with np.load("out.npz") as file:
        assert [len(file[name]) for name in file.files] == [1, 2, 3]


def test_asked_to_end_it_says_so_and_goes_on_later(model, capsys, monkeypatch):
    arguments = ["embed", write(), "out.hdf5", *model, "--layers", "top"]
    runs, calls = Embedder.runs, []

    def asked(self, tokens):
        calls.append(0)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGTERM)
        return runs(self, tokens)

    with monkeypatch.context() as patch:
        patch.setattr(Embedder, "runs", asked)
        assert main(arguments) == 128 + signal.SIGTERM
    assert capsys.readouterr() == (
        "",
        "keras_elmo embed: interrupted; 12 lines are saved in out.hdf5.partial, the same command "
        "goes on from there\n",
    )
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert out == "going on after line 12\nwritten to out.hdf5: 30 lines, 120 tokens\n"
    assert err == ""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL")
def test_killed_while_it_writes_it_goes_on_to_the_same_content(model, capsys):
    arguments = [write(), "out.hdf5", *model, "--layers", "top"]
    command = [sys.executable, "-c", KILLED, "12", "embed", *arguments]
    killed = subprocess.run(command, capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert sorted(os.listdir()) == ["in.txt", "out.hdf5.partial"]
    assert main(["embed", *arguments]) == 0
    assert "going on after line 12" in capsys.readouterr().out
    assert main(["embed", "in.txt", "whole.hdf5", *model, "--layers", "top"]) == 0
    assert read("out.hdf5") == read("whole.hdf5")


def test_a_changed_command_is_told_what_differs(model, capsys, monkeypatch):
    write()
    with monkeypatch.context() as patch:
        patch.setattr(embed, "_show", lambda *_: 0)
        assert main(["embed", "in.txt", "out.hdf5", *model, "--layers", "top"]) == 0
    assert main(["embed", "in.txt", "out.hdf5", *model]) == 2
    error = one_line(capsys)
    assert "out.hdf5.partial must be of a run with the same text and options" in error
    assert "`layers` was 'top', now 'all'" in error and "--overwrite" in error
    assert main(["embed", "in.txt", "out.hdf5", *model, "--overwrite"]) == 0
    assert main(["embed", "in.txt", "out.hdf5", *model, "--quiet"]) == 2
    assert "out.hdf5 exists. Give another output, or replace it" in capsys.readouterr().err


def test_a_full_disk_is_one_line_and_keeps_what_is_saved(model, capsys, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "replace", full)
    assert main(["embed", write(), "out.npz", *model, "--layers", "top"]) == 2
    assert "out.npz.partial: No space left on device. What was saved" in one_line(capsys)
    assert os.path.isdir("out.npz.partial")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.txt", "out.npz"], "none.txt does not exist"),
        (["in.txt", "out.txt"], "The output must end in .hdf5, .h5, .npz"),
        (["latin.txt", "out.npz"], "latin.txt, line 1: text must be UTF-8"),
        (["in.txt", "none/out.npz"], "there is no directory"),
        (["in.txt", "out.npz", "--gamma", "2"], "--gamma has a meaning with --layers elmo or"),
        (["in.txt", "out.npz", "--layers", "elmo", "--scalars", "1,x"], "must be a number"),
        (
            ["in.txt", "out.npz", "--layers", "elmo", "--scalars", "1,2"],
            "error: --scalars must have",
        ),
        (["in.txt", "out.npz", "--layers", "elmo", "--gamma", "nan"], "--gamma must be a finite"),
        (["in.txt", "out.npz", "--model", "none"], "--model none: .*nothing is there"),
        (["in.txt"], "the following arguments are required: OUT"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_made(model, capsys, arguments, message):
    write()
    with open("latin.txt", "wb") as file:
        file.write(b"\xff")
    before = sorted(os.listdir())
    model = () if "--model" in arguments else model
    assert main(["embed", *arguments, *model]) == 2
    assert re.search(message, one_line(capsys))
    assert sorted(os.listdir()) == before
