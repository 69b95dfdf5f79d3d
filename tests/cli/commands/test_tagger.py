import json
import os

import numpy as np
import pytest

from keras_elmo.cli.commands import tagger as command
from keras_elmo.cli.labelled import Evaluation, LabelledRun
from keras_elmo.cli.train import main
from keras_elmo.tasks.tagger.conll import TaggedSentences, read_conll
from keras_elmo.tasks.tagger.tagger import Tagger

SENTENCES = [
    [("Ann", "PROPN", "B-PER"), ("sees", "VERB", "O"), ("Bonn", "PROPN", "B-LOC")],
    [("No", "INTJ", "O")],
    [("Bob", "PROPN", "B-PER"), ("Hay", "PROPN", "I-PER"), ("sleeps", "VERB", "O")],
    [("They", "PRON", "O"), ("see", "VERB", "O"), ("Ann", "PROPN", "B-PER")],
    [("Ann", "PROPN", "B-PER"), ("sees", "NOUN", "O")],
]


def table(sentences):
    return "\n".join("".join("\t".join(row) + "\n" for row in rows) for rows in sentences)


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "train.tsv"
    path.write_text(table(SENTENCES), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def trained(tiny_directory, tmp_path_factory):
    """The folder and the printed text of a run on named entities with GloVe vectors."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "train.tsv").write_text(table(SENTENCES), encoding="utf-8")
    (folder / "glove.txt").write_text("ann 1 2\nsees 3 4\n", encoding="utf-8")
    arguments = [
        *("tagger", str(folder / "train.tsv"), "--label-column", "3", "--units", "0"),
        *("--glove", str(folder / "glove.txt"), "--source", str(tiny_directory), "--quiet"),
        *("--test-fraction", "0.4", "--epochs", "1", "--output", str(folder / "out")),
    ]
    with pytest.MonkeyPatch.context() as patch:
        printed = []
        patch.setattr("builtins.print", lambda *values, **_: printed.append(" ".join(values)))
        assert main(arguments) == 0
    return folder, "\n".join(printed)


def test_run_prints_data_accuracy_spans_and_seconds(trained):
    folder, printed = trained
    for part in (
        f"training: {folder / 'train.tsv'}, 3 sentences, 7 tokens",
        f"the test: the rest of {folder / 'train.tsv'}, 2 sentences, 5 tokens",
        "labels: 4 (B-LOC, B-PER, I-PER, O)",
        "accuracy: 0.",
        "(each word's most frequent label: 1.0000)",
        "span F1: ",
        "  PER  ",
        "2 spans)",
        "seconds: training ",
        "written to ",
    ):
        assert part in printed
    assert "note:" not in printed


def test_files_hold_the_model_its_mistakes_and_the_numbers(trained):
    folder, printed = trained
    assert sorted(os.listdir(folder / "out")) == ["metrics.json", "mistakes.tsv", "model.keras"]
    metrics = json.loads((folder / "out" / "metrics.json").read_text(encoding="utf-8"))
    assert f"accuracy: {metrics['accuracy']:.4f}" in printed
    assert metrics["n_train"] == {"sentences": 3, "tokens": 7}
    assert metrics["n_test"] == {"sentences": 2, "tokens": 5}
    assert sum(map(sum, metrics["confusion"])) == 5

    tagger = Tagger.load(folder / "out" / "model.keras")
    sentences = read_conll(folder / "train.tsv", label_column=3)
    tokens, labels, lines = (part[3:] for part in sentences)
    predicted = tagger.predict_labels(tokens, verbose=0)
    assert metrics["spans"]["f1"] == tagger.score_spans(tokens, labels, verbose=0).f1
    expected = [
        (str(line), token, true, wrong, " ".join(row))
        for row, *columns in zip(tokens, lines, tokens, labels, predicted, strict=True)
        for line, token, true, wrong in zip(*columns, strict=True)
        if true != wrong
    ]
    head, *rows = (folder / "out" / "mistakes.tsv").read_text(encoding="utf-8").splitlines()
    assert head == "line\ttoken\ttrue\tpredicted\tprobability\tsentence"
    found = [row.split("\t") for row in rows]
    assert [(*row[:4], row[5]) for row in found] == expected
    assert metrics["accuracy"] == 1 - len(expected) / 5


def test_baseline_by_hand():
    train = TaggedSentences([["a", "a", "a", *"bcd"]], [["X", *"YYZZZ"]], [[1] * 6])
    test = TaggedSentences([["a", "a"], ["new", "c"]], [["Y", "X"], ["Z", "X"]], [[1, 2], [3, 4]])
    assert command._baseline(train, test) == 0.5  # Y for a, Z for c and, as the commonest, for new


def test_dev_file_and_its_own_labels(data, tiny_directory, capsys, monkeypatch):
    def test(run, model, seconds):
        return Evaluation(run.classes, run.true, np.eye(len(run.classes))[[0] * len(run.true)])

    monkeypatch.setattr(Tagger, "fit", lambda *_, **__: None)
    monkeypatch.setattr(LabelledRun, "_test", test)
    dev = data.with_name("dev.tsv")
    dev.write_text(table(SENTENCES[:2] + [[("!", "PUNCT", "O")]]), encoding="utf-8")
    arguments = ["tagger", str(data), "--dev", str(dev), "--source", str(tiny_directory)]
    assert main([*arguments, "--units", "0", "--epochs", "1"]) == 0
    printed = capsys.readouterr().out
    assert f"the test: {dev}, 3 sentences, 5 tokens" in printed
    assert "note: 1 labels are in the test part only, the first is 'PUNCT' on line 7" in printed
    assert "running the biLM once over the training sentences" in printed
    assert "span F1" not in printed
    assert "written to" not in printed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--label-column", "4"], "train.tsv, line 1: nothing in column 4 of 3. Choose"),
        (["--token-column", "2"], "`label_column` must be another column"),
        (["--test-fraction", "0.9"], "--test-fraction 0.9 leaves 0 sentences for training"),
        (["--dev", "none.tsv"], "none.tsv must be a file of tagged sentences. R"),
        (["--dev", "none.tsv", "--shuffle"], "--shuffle has no meaning with --dev"),
        (["--dev", "d", "--test-fraction", "0.1"], "--test-fraction has no meaning with --dev"),
        (["--glove", "none.txt"], "--glove: none.txt must be a file of word vectors"),
        (["--source", "none"], "--source none: "),
        (["--output", "."], "--output: "),
    ],
)
def test_fault_is_one_line(data, options, message, capsys, monkeypatch):
    monkeypatch.chdir(data.parent)
    assert main(["tagger", str(data), *options]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert message in error


def test_one_label_only_is_told(data, capsys):
    data.write_text("a\tX\n\nb\tX\n", encoding="utf-8")
    assert main(["tagger", str(data), "--test-fraction", "0.5"]) == 2
    assert "every label is 'X'. A tagger needs two classes" in capsys.readouterr().err
