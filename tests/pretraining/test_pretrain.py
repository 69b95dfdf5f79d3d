"""`keras_elmo.pretrain`: one small run, and what is found before a first step."""

import dataclasses
import gzip
import os
import random

import numpy as np
import pytest
import tensorflow as tf

import keras_elmo
from keras_elmo.language_model.files import load_language_model
from keras_elmo.language_model.perplexity import evaluate
from keras_elmo.pretraining.corpus import read_sentences
from keras_elmo.pretraining.options import PretrainingOptions
from keras_elmo.pretraining.prepare import prepare
from keras_elmo.pretraining.run import Run

SIZES = {
    "lstm_dim": 8, "projection_dim": 4, "char_dim": 4, "filters": ((1, 4), (3, 8)),
    "batch_size": 2, "window": 4,
}  # fmt: skip
OPTIONS = {**SIZES, "steps": 4, "evaluate_every": 2, "report_every": 1, "learning_rate": 0.02}
FILES = ["options.json", "softmax.hdf5", "training.csv", "vocab.txt", "weights.hdf5"]


def sentences(seed, n):
    draw = random.Random(seed)
    patterns = ("The cat sat on the mat.", "A dog sat, too!", "Is it a cat?")
    return "".join(draw.choice(patterns) + "\n" for _ in range(n))


def write_texts(folder):
    (folder / "a.txt").write_text(sentences(1, 30))
    (folder / "b.txt.gz").write_bytes(gzip.compress(sentences(2, 30).encode()))
    (folder / "held-out.txt").write_text(sentences(3, 10))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with text and a trained model, what training gave back, and its reports."""
    folder, reports = tmp_path_factory.mktemp("trained"), []
    write_texts(folder)
    found = keras_elmo.pretrain(
        folder / "[ab].txt*", folder / "out", held_out=folder / "held-out.txt",
        progress=reports.append, **OPTIONS,
    )  # fmt: skip
    return folder, found, reports


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current directory, with text."""
    monkeypatch.chdir(tmp_path)
    write_texts(tmp_path)
    return tmp_path


def prepared(text="a.txt", output="out", **options):
    places = {name: options.pop(name) for name in ("resume", "overwrite") if name in options}
    options = PretrainingOptions(**{**SIZES, "steps": 2, **options})
    return prepare(text, output, options, tf.distribute.get_strategy(), **places)


def test_text_becomes_a_source_and_a_language_model(trained):
    folder, found, _ = trained
    assert sorted(os.listdir(folder / "out")) == sorted([*FILES, "checkpoints"])
    held_out = read_sentences([folder / "held-out.txt"], "words")
    again = evaluate(load_language_model(folder / "out"), held_out)
    assert found.best == pytest.approx(again, rel=1e-4)
    assert (found.output, found.step) == (str(folder / "out"), 4)
    layer = keras_elmo.ELMoEmbedding(found.output, output="elmo")
    assert layer.tokenizer == "words"
    assert layer(["The cat sat."]).shape == (1, 4, 8)


def test_progress_and_history_tell_the_same(trained):
    _, found, reports = trained
    assert [report.step for report in reports] == [1, 2, 3, 4]
    assert [report.evaluation is None for report in reports] == [True, False, True, False]
    assert {report.steps for report in reports} == {4}
    assert [report.row["step"] for report in reports] == [row["step"] for row in found.history]
    assert found.history[-1]["held_out_combined"] == reports[-1].evaluation.combined
    assert found.history[0]["held_out_combined"] is None


def test_a_finished_run_has_nothing_left_and_tells_what_it_came_to(trained):
    folder, found, _ = trained
    options = {**OPTIONS, "held_out": folder / "held-out.txt"}
    again = keras_elmo.pretrain(folder / "[ab].txt*", folder / "out", resume=True, **options)
    assert again == found


def test_changed_options_and_text_are_listed(trained, tmp_path):
    folder, _, _ = trained
    changed = {"lstm_dim": 6, "vocabulary_size": 4, "held_out": folder / "held-out.txt"}
    (tmp_path / "a.txt").write_text(sentences(4, 9))
    with pytest.raises(ValueError, match="must go on with the options") as error:
        prepared(tmp_path / "a.txt", folder / "out", resume=True, **{**OPTIONS, **changed})
    message = str(error.value)
    assert "`model.lstm.dim` was 8, now 6" in message
    assert "`vocabulary_size` was 20000, now 4" in message
    assert "`text` was [['a.txt', " in message
    assert "`words to predict (sha256)`" in message and "char_cnn" not in message


def test_a_damaged_checkpoint_is_told_and_the_one_before_it_taken(trained, folder):
    done, _, _ = trained
    options = {**OPTIONS, "held_out": "held-out.txt", "resume": True}
    checkpoint = done / "out" / "checkpoints" / "step-000000004.npz"
    (folder / "out" / "checkpoints").mkdir(parents=True)
    (folder / "out" / "notes.txt").write_text("mine")  # no obstacle
    (folder / "out" / "checkpoints" / "step-000000009.npz").write_bytes(b"")
    with pytest.raises(ValueError, match=r"must hold a whole checkpoint.*1, all damaged.*init_f"):
        prepared("[ab].txt*", **options)
    (folder / "out" / "checkpoints" / checkpoint.name).write_bytes(checkpoint.read_bytes())
    run, _, notes, remarks = prepared("[ab].txt*", **options)
    assert run.finished and notes == ["going on after step 4"]
    assert len(remarks) == 1 and "step-000000009.npz is damaged" in remarks[0]
    assert prepared(output="new", resume=True).notes == [
        "no checkpoint in new: starting at the beginning"
    ]


def test_weights_are_a_function_of_the_seed_alone(folder):
    one, two, three = (
        prepared(seed=seed).run.trainer.model.bilm.arrays() for seed in (5, 5, np.int64(6))
    )
    for key in one:
        np.testing.assert_array_equal(one[key], two[key])
    kernels = [arrays["CNN_proj/W_proj"] for arrays in (one, three)]
    assert np.abs(kernels[0] - kernels[1]).max() > 0.01
    assert len(np.unique(kernels[0])) == kernels[0].size


def test_given_vocabulary_and_other_choices(folder):
    (folder / "vocab.txt").write_bytes(b"<S>\r\n</S>\r\n<UNK>\r\nthe\r\ncat\r\n")
    model = prepared(
        vocabulary="vocab.txt", softmax="sampled", samples=2, use_skip_connections=False,
        n_layers=3, n_highway=0, activation="tanh", tokenizer="space", clip=1.5,
        precision="bfloat16",
    ).run.trainer.model  # fmt: skip
    assert dataclasses.asdict(model.bilm.config) == {
        "lstm_dim": 8, "projection_dim": 4, "n_layers": 3, "cell_clip": 1.5, "proj_clip": 1.5,
        "use_skip_connections": False, "char_dim": 4, "filters": ((1, 4), (3, 8)), "n_highway": 0,
        "max_characters_per_token": 50, "activation": "tanh", "tokenizer": "space",
    }  # fmt: skip
    assert model.vocabulary.words == ("<S>", "</S>", "<UNK>", "the", "cat")
    assert (model.softmax.kind, model.softmax.n_samples) == ("sampled", 2)
    assert model.bilm.compute_dtype == "bfloat16"


def test_steps_and_evaluations_follow_from_the_epochs(folder):
    run, corpus, *_ = prepared(steps=None, epochs=2.5)
    assert (run.options.steps, run.options.evaluate_every) == (
        round(2.5 * corpus.counts.positions / 8), -(-corpus.counts.positions // 8),
    )  # fmt: skip
    assert prepared(steps=None, epochs=1e-9, evaluate_every=7).run.options.steps == 1


def test_starting_from_what_exists(trained, folder):
    done, found, _ = trained
    (folder / "c.txt").write_text("The cat sat on a chair.\n" * 9)
    options = {name: None for name in SIZES if name not in ("batch_size", "window")}
    run, _, notes, _ = prepared("c.txt", init_from=found.output, **options)
    assert notes == [f"started from {found.output}: 9 words of the softmax kept, 1 new"]
    one, two = load_language_model(found.output), run.trainer.model
    assert two.bilm.config == one.bilm.config
    assert two.bilm.fingerprint() == one.bilm.fingerprint()
    with pytest.raises(ValueError, match="`lstm_dim` is 9, the source's is 8"):
        prepared("c.txt", init_from=found.output, **{**options, "lstm_dim": 9})
    with pytest.raises(ValueError, match="`init_from` and `output` must be two directories"):
        prepared("c.txt", done / "out", init_from=found.output, overwrite=True, **options)


def test_a_vocabulary_that_is_not_by_frequency_is_a_warning(folder, monkeypatch):
    words = ["zebra", "yak", *(f"x{n}" for n in range(30)), "The", "cat", "sat", "a", "."]
    (folder / "c.txt").write_text("The cat sat .\n" * 50 + " ".join(words) + "\n")
    (folder / "vocab.txt").write_text("\n".join(["<S>", "</S>", "<UNK>", *words]) + "\n")
    monkeypatch.setattr(Run, "reports", lambda self: iter(()))
    with pytest.warns(UserWarning, match="vocab.txt: the first 4 of the 37 vocabulary words"):
        keras_elmo.pretrain("c.txt", "out", vocabulary="vocab.txt", **SIZES)


def write(name, content):
    def change(folder):
        (folder / name).write_bytes(content)

    return change


def make_directory(*names):
    def change(folder):
        (folder / names[0]).mkdir()
        for name in names[1:]:
            (folder / names[0] / name).write_text("keep me")

    return change


def cut_gzip(folder):
    content = (folder / "b.txt.gz").read_bytes()
    (folder / "b.txt.gz").write_bytes(content[: len(content) // 2])


FAULTS = {
    "no text": (None, {"text": "no*.txt"}, "no[*].txt does not exist"),
    "no list": (None, {"text": []}, "`text` must be files.*Received: none"),
    "standard input": (None, {"text": "-"}, "`text` must be files.*Received: standard input"),
    "empty text": (write("a.txt", b"\n \n"), {}, "`text` must hold at least one sentence"),
    "wrong encoding": (write("a.txt", b"caf\xe9\n"), {}, "a.txt, line 1: text must be UTF-8"),
    "cut gzip": (cut_gzip, {"text": "b.txt.gz"}, "b.txt.gz must be a whole gzip file"),
    "text folder": (make_directory("d"), {"text": "d"}, "d is a directory"),
    "no held-out": (None, {"held_out": "missing.txt"}, "missing.txt does not exist"),
    "empty held-out": (write("e.txt", b"\n"), {"held_out": "e.txt"}, "`held_out` must hold"),
    "held-out is trained on": (None, {"held_out": "./a.txt"}, "among the training files"),
    "vocabulary": (
        write("v.txt", b"<S>\n</S>\nthe\n"), {"vocabulary": "v.txt"}, "`vocabulary` v.txt: .*UNK"
    ),
    "other words": (
        write("v.txt", b"<S>\n</S>\n<UNK>\nthe cat\n"), {"vocabulary": "v.txt"}, "words of the te"
    ),
    "no vocabulary": (None, {"vocabulary": "none.txt"}, "`vocabulary` none.txt: No such"),
    "one layer": (None, {"n_layers": 1}, "`lstm.n_layers` must be an integer from 2"),
    "wide filter": (None, {"filters": ((60, 4),)}, "`char_cnn.filters` must not be wider"),
    "samples": (None, {"samples": 3}, "`samples` is for `softmax` sampled"),
    "nothing to start from": (None, {"init_from": "nowhere"}, "`init_from` nowhere: "),
    "events in a file": (None, {"tensorboard": "a.txt/events"}, "`tensorboard`: a.txt is no dir"),
    "to go on or not": (None, {"resume": True, "overwrite": True}, "exclude each other"),
    "an earlier run": (make_directory("out", "vocab.txt"), {}, "output of an earlier run"),
    "full output": (
        make_directory("out", "mine.txt"), {"overwrite": True}, r"holds other files \(mine.txt\)"
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found_before_anything_is_written(fault, folder):
    change, options, message = FAULTS[fault]
    if change:
        change(folder)
    before = sorted(folder.rglob("*"))
    with pytest.raises((ValueError, OSError), match=message):
        prepared(**options)
    assert sorted(folder.rglob("*")) == before


def test_an_unknown_option_or_strategy(folder, monkeypatch):
    with pytest.raises(TypeError, match="unexpected keyword argument 'layers'"):
        keras_elmo.pretrain("a.txt", "out", layers=2)
    monkeypatch.delenv("TF_CONFIG", raising=False)
    with pytest.raises(ValueError, match="TF_CONFIG"):
        keras_elmo.pretrain("a.txt", "out", strategy="multi-worker")
