"""The command that pretrains a biLM."""

import csv
import errno
import gzip
import os
import random
import re

import numpy as np
import pytest

from keras_elmo import BiLM, ELMoEmbedding
from keras_elmo.cli.train import main
from keras_elmo.language_model.files import load_language_model
from keras_elmo.language_model.perplexity import evaluate
from keras_elmo.pretraining.corpus import read_sentences

SMALL = [
    *("--lstm-dim", "12", "--projection-dim", "8", "--char-dim", "4", "--filters", "1:4,3:8"),
    *("--batch-size", "4", "--window", "6", "--learning-rate", "0.02", "--dropout", "0"),
]


def text(seed, lines):
    rng = random.Random(seed)
    patterns = ("The cat sat on the mat.", "A dog sat, too!", "Is it a cat?")
    return "".join(rng.choice(patterns) + "\n" for _ in range(lines))


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.txt").write_text(text(1, 60))
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(text(2, 60).encode()))
    (tmp_path / "held-out.txt").write_text(text(3, 20))
    return tmp_path


def run(files, *options):
    return main(["bilm", str(files / "[ab].txt*"), "--output", str(files / "out"), *options])


def test_text_to_preset_directory(files, capsys):
    held_out = str(files / "held-out.txt")
    status = run(
        files, *SMALL, "--epochs", "2", "--held-out", held_out,
        "--evaluate-every", "30", "--report-every", "10",
    )  # fmt: skip
    assert status == 0
    printed, progress = capsys.readouterr()
    assert "text: 2 file(s), 120 sentences" in printed
    assert re.search(r"memory: [\d.]+ GB, weights.*\ntime: about \d\d:\d\d for", printed)
    out = files / "out"
    names = ["options.json", "softmax.hdf5", "training.csv", "vocab.txt", "weights.hdf5"]
    assert sorted(os.listdir(out)) == ["checkpoints", *names]

    with open(out / "training.csv", newline="") as log:
        rows = list(csv.DictReader(log))
    steps = int(re.search(r"steps: (\d+) of 24 positions", printed)[1])
    assert int(rows[-1]["step"]) == steps
    assert float(rows[-1]["epoch"]) == pytest.approx(2, abs=0.05)
    measured = [row for row in rows if row["held_out_combined"]]
    assert [int(row["step"]) for row in measured] == [*range(30, steps, 30), steps]
    for direction in ("held_out_forward", "held_out_backward"):
        assert float(measured[-1][direction]) < float(measured[0][direction])

    assert re.search(
        rf"{steps}/{steps} .*, epoch \d\.\d\d, rate [\d.e-]+, loss [\d.]+ \+", progress
    )

    model = load_language_model(out)
    found = evaluate(model, read_sentences([held_out], "words"))
    assert found.combined == pytest.approx(float(rows[-1]["held_out_combined"]), rel=1e-4)
    assert model.bilm.tokenizer == "words"
    layer = ELMoEmbedding(str(out), output="elmo")
    assert layer.tokenizer == "words"
    assert layer(["The cat sat."]).shape == (1, 4, 16)


def test_seed_and_float16(files):
    for name, seed in (("one", "5"), ("two", "5"), ("three", "6")):
        options = [*SMALL, "--steps", "2", "--seed", seed, "--output", str(files / name)]
        assert main(["bilm", str(files / "a.txt"), *options, "--weights", "float16"]) == 0
    one, two, three = (BiLM.load(files / name).arrays() for name in ("one", "two", "three"))
    for key in one:
        np.testing.assert_allclose(one[key], two[key], atol=1e-3)
    assert np.abs(one["CNN_proj/W_proj"] - three["CNN_proj/W_proj"]).max() > 0.01


def test_given_vocabulary_and_other_choices(files):
    (files / "vocab.txt").write_bytes(b"<S>\r\n</S>\r\n<UNK>\r\nthe\r\ncat\r\n")
    status = run(
        files, *SMALL, "--steps", "2", "--vocabulary", str(files / "vocab.txt"),
        "--softmax", "full", "--no-skip-connections", "--n-layers", "3", "--n-highway", "0",
        "--activation", "tanh", "--tokenizer", "space", "--clip", "1.5",
    )  # fmt: skip
    assert status == 0
    config = BiLM.load(files / "out").config
    assert (config.n_layers, config.n_highway, config.activation) == (3, 0, "tanh")
    assert (config.use_skip_connections, config.tokenizer) == (False, "space")
    assert (config.cell_clip, config.proj_clip) == (1.5, 1.5)
    words = (files / "out" / "vocab.txt").read_text().split()
    assert words == ["<S>", "</S>", "<UNK>", "the", "cat"]


def empty(files):
    for name in ("a.txt", "b.txt.gz"):
        (files / name).unlink()
    (files / "a.txt").write_text("\n \n")


def latin(files):
    (files / "a.txt").write_bytes("un café\n".encode("latin-1"))


def cut_gzip(files):
    content = (files / "b.txt.gz").read_bytes()
    (files / "b.txt.gz").write_bytes(content[: len(content) // 2])


def poor_vocabulary(files):
    (files / "vocab.txt").write_text("<S>\n</S>\nthe\n")


def foreign_vocabulary(files):
    (files / "vocab.txt").write_text("<S>\n</S>\n<UNK>\nthe cat\n")


def text_folder(files):
    (files / "a.txt").unlink()
    (files / "a.txt").mkdir()


def unnamed_gzip(files):
    (files / "a.txt").write_bytes((files / "b.txt.gz").read_bytes())


def full_output(files):
    (files / "out").mkdir()
    (files / "out" / "mine.txt").write_text("keep me")


FAULTS = {
    "no such file": (None, ["--held-out", "missing.txt"], "missing.txt: no such file"),
    "empty text": (empty, [], "at least one sentence"),
    "wrong encoding": (latin, [], "a.txt, line 1: text must be UTF-8"),
    "cut gzip": (cut_gzip, [], "b.txt.gz must be a whole gzip file"),
    "vocabulary": (poor_vocabulary, ["--vocabulary", "vocab.txt"], "<UNK>"),
    "held-out is trained on": (None, ["--held-out", "a.txt"], "among the training files"),
    "one layer": (None, ["--n-layers", "1"], "--n-layers must be an integer from 2"),
    "filters": (None, ["--filters", "1-4"], "must look like 1:32,2:64"),
    "wide filter": (None, ["--filters", "60:4"], "--filters must not be wider"),
    "rate": (None, ["--learning-rate", "0"], "above 0"),
    "epochs": (None, ["--epochs", "nan"], "above 0"),
    "dropout": (None, ["--dropout", "1"], "below 1"),
    "samples": (None, ["--samples", "3"], "--samples is for --softmax sampled"),
    "nothing to start from": (None, ["--init-from", "nowhere"], "nowhere"),
    "cluster": (None, ["--strategy", "multi-worker"], "TF_CONFIG"),
    "threads": (None, ["--threads", "1"], "run the command by itself"),
    "patience": (None, ["--patience", "2"], "--patience has a meaning with --held-out only"),
    "held-out sentences": (None, ["--held-out-sentences", "2"], "with --held-out only"),
    "words of nothing": (None, ["--init-vocabulary", "a.txt"], "with --init-from only"),
    "reset rate": (None, ["--reset-rate", "0.5"], "with --resets random only"),
    "warm-up": (None, ["--optimizer", "adagrad", "--warmup-steps", "5"], "--schedule cosine only"),
    "decay": (None, ["--optimizer", "adam", "--weight-decay", "0.1"], "--optimizer adamw only"),
    "two sizes": (
        foreign_vocabulary,
        ["--vocabulary", "vocab.txt", "--vocabulary-size", "9"],
        "with no --vocabulary only",
    ),
    "other words": (foreign_vocabulary, ["--vocabulary", "vocab.txt"], "holds no word of the text"),
    "no vocabulary": (None, ["--vocabulary", "missing.txt"], "--vocabulary missing.txt: No such"),
    "vocabulary folder": (None, ["--vocabulary", "."], "--vocabulary .: Is a directory"),
    "text folder": (text_folder, [], "is a directory"),
    "gzip under another name": (unnamed_gzip, [], "Rename it"),
    "empty filters": (None, ["--filters", "0:8"], "must look like 1:32,2:64"),
    "events in a file": (None, ["--tensorboard", "held-out.txt/events"], "is no directory"),
    "to go on or not": (None, ["--resume", "--overwrite"], "not allowed with argument"),
    "full output": (full_output, ["--overwrite"], "holds other files (mine.txt)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_bad_input_is_one_line_status_2_and_nothing_written(fault, files, capsys, monkeypatch):
    prepare, options, message = FAULTS[fault]
    if prepare:
        prepare(files)
    before = sorted(path for path in files.rglob("*"))
    monkeypatch.chdir(files)
    assert run(files, *options) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and message in error
    assert error.startswith("keras_elmo-train bilm: error: ")
    assert sorted(path for path in files.rglob("*")) == before


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_run_that_diverges_stops_with_a_line(files, capsys):
    assert run(files, *SMALL, "--learning-rate", "1e30", "--steps", "50") == 2
    assert "must be finite" in capsys.readouterr().err.splitlines()[-1]
    assert not (files / "out").exists()


def test_a_failing_run_leaves_an_earlier_one_as_it_was(files):
    assert run(files, *SMALL, "--steps", "3") == 0
    before = contents(files / "out")
    options = [*SMALL, "--learning-rate", "1e30", "--steps", "50", "--overwrite"]
    assert run(files, *options) == 2
    assert contents(files / "out") == before
    assert run(files, *SMALL, "--steps", "2", "--overwrite") == 0
    assert [path.name for path in (files / "out" / "checkpoints").iterdir()] == [
        "step-000000002.npz"
    ]


def test_full_disk_keeps_the_last_checkpoint(files, capsys, monkeypatch):
    options = [*SMALL, "--steps", "20", "--checkpoint-every", "5"]
    real, saved = np.savez, []

    def savez(file, **arrays):
        real(file, **arrays)
        saved.append(1)
        if len(saved) > 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(np, "savez", savez)
    assert run(files, *options) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert "out: No space left on device" in error and "free space and go on" in error
    names = [path.name for path in (files / "out" / "checkpoints").iterdir()]
    assert sorted(names) == ["step-000000005.npz", "step-000000010.npz"]
    monkeypatch.setattr(np, "savez", real)
    assert run(files, *options, "--resume") == 0
    assert "going on after step 10" in capsys.readouterr().out


def test_dry_run_prints_the_plan_and_writes_nothing(files, capsys):
    assert run(files, *SMALL, "--epochs", "3", "--dry-run") == 0
    printed = capsys.readouterr().out
    assert re.search(r"steps: \d+ of 24 positions, (2\.9|3\.0)\d epochs", printed)
    assert "tokens/s, timed over 3 steps" in printed
    assert not (files / "out").exists()


def test_training_that_ends_when_it_should(files, capsys):
    """1,200 short sentences, 5 epochs, batch 16, window 20, with held-out text."""
    (files / "many.txt").write_text(text(4, 1200))
    status = main(
        ["bilm", str(files / "many.txt"), "--output", str(files / "out"), *SMALL,
         "--batch-size", "16", "--window", "20", "--epochs", "5", "--softmax", "sampled",
         "--held-out", str(files / "held-out.txt"), "--evaluate-every", "26"]
    )  # fmt: skip
    assert status == 0
    printed, progress = capsys.readouterr()
    tokens = int(re.search(r"1,200 sentences, ([\d,]+) tokens", printed)[1].replace(",", ""))
    steps = int(re.search(r"steps: (\d+) of 320 positions, 5\.\d\d epochs", printed)[1])
    assert steps == round(5 * (tokens + 1200) / 320)
    pattern = rf"\d+/{steps} \[.*<.*, epoch \d\.\d\d, rate .*, sampled training loss .* tokens/s"
    assert re.search(pattern, progress)
    with open(files / "out" / "training.csv", newline="") as log:
        rows = list(csv.DictReader(log))
    assert int(rows[-1]["step"]) == steps
    measured = [int(row["step"]) for row in rows if row["held_out_combined"]]
    assert measured == [*range(26, steps, 26), steps]
    assert progress.count("held-out perplexity") + printed.count("held-out perplexity") == len(
        measured
    )


def test_starting_from_what_exists(files, capsys):
    assert run(files, *SMALL, "--steps", "30", "--softmax", "full") == 0
    (files / "c.txt").write_text("The cat sat on a chair.\n" * 40)
    options = ["--steps", "1", "--learning-rate", "1e-6", "--batch-size", "4", "--window", "6"]
    again = ["bilm", str(files / "c.txt"), "--output", str(files / "next"), *options]
    assert main([*again, "--init-from", str(files / "out")]) == 0
    assert re.search(r"\d+ words of the softmax kept.*, 1 new", capsys.readouterr().out)
    one, two = load_language_model(files / "out"), load_language_model(files / "next")
    assert (two.softmax.kind, two.bilm.config) == ("full", one.bilm.config)
    np.testing.assert_allclose(
        two.bilm.arrays()["CNN_proj/W_proj"], one.bilm.arrays()["CNN_proj/W_proj"], atol=1e-4
    )
    assert main([*again, "--init-from", str(files / "out"), "--lstm-dim", "9", "--overwrite"]) == 2
    assert "--lstm-dim is 9, the source's is 12" in capsys.readouterr().err


def test_vocabulary_that_is_not_by_frequency_is_warned_of(files, capsys):
    words = ["zebra", "yak", *(f"x{n}" for n in range(30)), "The", "cat", "sat", "a", "."]
    (files / "c.txt").write_text("The cat sat .\n" * 50 + " ".join(words) + "\n")
    (files / "vocab.txt").write_text("\n".join(["<S>", "</S>", "<UNK>", *words]) + "\n")
    options = [*SMALL, "--steps", "1", "--vocabulary", str(files / "vocab.txt")]
    assert main(["bilm", str(files / "c.txt"), "--output", str(files / "out"), *options]) == 0
    assert "vocab.txt: the first 4 of the 37 vocabulary words" in capsys.readouterr().err


def test_out_of_patience_is_the_end(files, capsys):
    options = [*SMALL, "--steps", "40", "--evaluate-every", "5", "--learning-rate", "1e-9"]
    options += ["--held-out", str(files / "held-out.txt")]
    assert run(files, *options, "--patience", "1") == 0
    before = contents(files / "out")
    capsys.readouterr()
    assert run(files, *options, "--patience", "1", "--resume") == 0
    assert "a larger --patience goes on" in capsys.readouterr().out
    assert contents(files / "out") == before
    assert run(files, *options, "--patience", "99", "--resume") == 0
    assert contents(files / "out") != before


def test_changed_options_are_listed_by_name(files, capsys):
    assert run(files, *SMALL, "--steps", "2") == 0
    capsys.readouterr()
    options = [*SMALL, "--lstm-dim", "8", "--vocabulary-size", "4", "--steps", "2", "--resume"]
    assert run(files, *options) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert "`model.lstm.dim` was 12, now 8" in error
    assert "`vocabulary_size` was None, now 4" in error
    assert "`words to predict (sha256)`" in error and "char_cnn" not in error
