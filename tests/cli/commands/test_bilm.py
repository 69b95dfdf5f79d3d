"""The command that pretrains a biLM: what it parses, hands over and reports."""

import contextlib
import errno
import io
import os
import re
import shutil
import signal

import pytest
import tensorflow as tf
from tiny_pretraining import SMALL, write_corpus

from keras_elmo.cli.train import main
from keras_elmo.pretraining.run import Run

OPTIONS = [
    *SMALL, "--batch-size", "4", "--held-out", "held-out.txt", "--steps", "6",
    "--softmax", "sampled", "--evaluate-every", "3", "--report-every", "2", "--plots", "pictures",
]  # fmt: skip


def bilm(*options):
    return main(["bilm", "text.txt", "--output", "out", *options])


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The folder of one run, and what it printed and showed."""
    folder = tmp_path_factory.mktemp("done")
    write_corpus(folder)
    out, error = io.StringIO(), io.StringIO()
    before = os.getcwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            assert bilm(*OPTIONS) == 0
    finally:
        os.chdir(before)
    return folder, out.getvalue(), error.getvalue()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current directory, with text."""
    monkeypatch.chdir(tmp_path)
    write_corpus(tmp_path)
    return tmp_path


@pytest.fixture
def no_steps(monkeypatch):
    """Lets runs end before their first step, and take no time."""
    monkeypatch.setattr(Run, "measure", lambda self: 0.5)
    monkeypatch.setattr(Run, "reports", lambda self: iter(()))


def test_plan_progress_and_end_are_shown(done):
    folder, printed, progress = done
    assert printed.startswith("text: 1 file(s), 200 sentences, ")
    assert re.search(r"\nsteps: 6 of 20 positions, 0\.1\d epochs of [\d,]+ positions, ", printed)
    assert re.search(r"memory: [\d.]+ GB, weights.*\ntime: about \d\d:\d\d for 6 steps", printed)
    assert printed.endswith("written to out\n")
    bar = r"6/6 .*, epoch 0\.1\d, rate [\d.e-]+, sampled training loss [\d.]+ \+ .* tokens/s, wait"
    assert re.search(bar, progress)
    # tqdm writes lines between its bars to stdout.
    assert re.search(r"step 3: held-out perplexity forward .*, combined [\d.]+, the best", printed)
    assert (printed + progress).count("held-out perplexity") == 2
    assert {"options.json", "weights.hdf5", "training.csv"} < set(os.listdir(folder / "out"))
    assert os.listdir(folder / "pictures") == ["perplexity.png"]


def test_a_finished_run_is_told_and_its_picture_drawn(done, tmp_path, monkeypatch, capsys):
    shutil.copytree(done[0], tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    os.remove("pictures/perplexity.png")
    assert bilm(*OPTIONS, "--resume") == 0
    assert "out: all 6 steps are done already" in capsys.readouterr().out
    assert os.listdir("pictures") == ["perplexity.png"]
    # As a run without patience left: what is asked for decides anew.
    assert bilm(*OPTIONS, "--resume", "--lstm-dim", "9") == 2
    assert "`model.lstm.dim` was 12, now 9" in capsys.readouterr().err


def test_a_dry_run_prints_the_plan_and_writes_nothing(folder, no_steps, capsys):
    before = sorted(os.listdir())
    assert bilm(*SMALL, "--epochs", "3", "--dry-run", "--plots", "pictures") == 0
    printed = capsys.readouterr().out
    assert "3.0" in re.search(r"positions, (.*) epochs", printed)[1]
    assert "tokens/s, timed over 3 steps" in printed
    assert sorted(os.listdir()) == before


def test_notes_and_warnings_are_lines(folder, no_steps, capsys):
    (folder / "vocab.txt").write_text("<S>\n</S>\n<UNK>\nzebra\nmat\nthe\n")
    with open("text.txt", "a") as file:
        file.write("\nzebra")
    assert bilm(*SMALL, "--vocabulary", "vocab.txt", "--resume") == 0
    printed, error = capsys.readouterr()
    assert printed.startswith("no checkpoint in out: starting at the beginning\ntext: ")
    assert "warning: vocab.txt: the first 1 of the 3 vocabulary words" in error


FAULTS = {
    "text": (["--held-out", "missing.txt"], "missing.txt does not exist"),
    "option of the model": (["--n-layers", "1"], "--n-layers must be an integer from 2"),
    "option of another name": (["--filters", "60:4"], "--filters must not be wider"),
    "filters": (["--filters", "1-4"], "invalid _filters value: '1-4'"),
    "rate": (["--learning-rate", "0"], "must be a number above 0"),
    "samples": (["--samples", "3"], "--samples is for --softmax sampled"),
    "no effect": (["--patience", "2"], "--patience has a meaning with --held-out only"),
    "two lengths": (["--epochs", "2", "--steps", "2"], "--epochs has a meaning without --steps"),
    "start": (["--init-from", "nowhere"], "--init-from nowhere: "),
    "vocabulary": (["--vocabulary", "."], "--vocabulary .: Is a directory"),
    "cluster": (["--strategy", "multi-worker"], "TF_CONFIG"),
    "threads": (["--threads", "1"], "run the command by itself"),
    "to go on or not": (["--resume", "--overwrite"], "not allowed with argument"),
    "output": (["--output", "text.txt"], "--output: text.txt is a file"),
    "earlier picture": (["--plots", "pictures"], "pictures/perplexity.png exists"),
    "picture in the output": (["--plots", "out/pictures"], "out/pictures is in --output"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_bad_input_is_one_line_status_2_and_nothing_written(fault, folder, capsys):
    options, message = FAULTS[fault]
    (folder / "pictures").mkdir()
    (folder / "pictures" / "perplexity.png").write_text("old")
    tf.constant(0)  # TensorFlow is at work
    before = sorted(folder.rglob("*"))
    assert bilm(*options) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and message in error
    assert error.startswith("keras_elmo-train bilm: error: ")
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("error", "cluster", "status", "message"),
    [
        (FloatingPointError("The loss must be finite."), "", 2, "The loss must be finite."),
        (OSError(errno.ENOSPC, "No space left"), "", 2, "out: No space left. What was .* --resume"),
        (OSError(errno.EIO, "Broken disk"), "", 2, "Broken disk"),
        (tf.errors.UnavailableError(None, None, "lost\nmore"), "{}", 1, r"another .*gone \(lost\)"),
    ],
)
def test_what_goes_wrong_later_is_a_line_too(
    error, cluster, status, message, folder, no_steps, capsys, monkeypatch
):
    def reports(self):
        raise error
        yield

    monkeypatch.setattr(Run, "reports", reports)
    monkeypatch.setenv("TF_CONFIG", cluster)
    assert bilm(*SMALL) == status
    line = capsys.readouterr().err.splitlines()[-1]
    assert re.match(f"keras_elmo-train bilm: error: {message}", line.replace("[Errno 5] ", ""))


def test_ctrl_c_asks_the_run_to_end(folder, no_steps, capsys, monkeypatch):
    def reports(self):
        signal.raise_signal(signal.SIGTERM)
        assert self._stop > 0
        yield from ()

    monkeypatch.setattr(Run, "reports", reports)
    assert bilm(*SMALL, "--steps", "9") == 143
    told = "interrupted after step 0 of 9; saved in out, go on with --resume"
    assert told in capsys.readouterr().err


def test_each_option_of_pretraining_is_one_of_the_command(capsys):
    with pytest.raises(SystemExit):
        main(["bilm", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "--lstm-dim N size of the LSTM cells (default: 512)" in told
    assert "--filters W:N,... character convolutions, width:count (default: 1:32,2:32," in told
    assert "--no-skip-connections layers do not add their input" in told
    assert "--warmup-steps N linear rise before the cosine; at most a tenth" in told
