import argparse
import json
import os
import sys

import keras
import numpy as np
import pytest

from keras_elmo.cli.commands.classifier import _positive_label
from keras_elmo.cli.labelled import Evaluation, LabelledRun
from keras_elmo.cli.train import main
from keras_elmo.tasks.classifier.text_classifier import TextClassifier
from keras_elmo.tasks.sms_sample import load_sms_sample

ROWS = [
    ("ham", "ok lar"),
    ("spam", "win cash\tnow"),
    ("ham", "see you at 8"),
    ("spam", "free entry"),
    ("ham", "no"),
    ("spam", "call me now"),
    ("ham", "home by six"),
    ("spam", "txt WIN"),
    ("ham", "see you,\nmum"),
    ("spam", "claim your prize"),
]


def table(rows, name="v1,v2,,", end=",,"):
    return "\n".join([name, *(f'{label},"{text}"{end}' for label, text in rows)]) + "\n"


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(table(ROWS), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def trained(tiny_directory, tmp_path_factory):
    """The output directory and the printed text of a run on a small table."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "data.csv").write_text(table(ROWS), encoding="utf-8")
    arguments = [
        *("classifier", str(folder / "data.csv"), "--text-column", "v2", "--label-column", "v1"),
        *("--source", str(tiny_directory), "--output", str(folder / "out"), "--quiet"),
        *("--test-fraction", "0.4", "--epochs", "2", "--batch-size", "3", "--seed", "1"),
    ]
    with pytest.MonkeyPatch.context() as patch:
        printed = []
        patch.setattr("builtins.print", lambda *values, **_: printed.append(" ".join(values)))
        assert main(arguments) == 0
    return folder / "out", "\n".join(printed)


def test_run_prints_data_accuracy_f1_confusion_and_seconds(trained):
    _, printed = trained
    for part in (
        "10 rows (ham 5, spam 5)",
        "split: 6 for training, 4 for the test (file order)",
        "accuracy: 0.",
        "F1 (spam): 0.",
        "true, predicted     ham    spam",
        "seconds: training ",
        "written to ",
    ):
        assert part in printed
    assert "note:" not in printed


def test_files_hold_the_model_its_mistakes_and_the_numbers(trained):
    directory, printed = trained
    assert sorted(os.listdir(directory)) == ["metrics.json", "mistakes.tsv", "model.keras"]
    metrics = json.loads((directory / "metrics.json").read_text(encoding="utf-8"))
    assert f"accuracy: {metrics['accuracy']:.4f}" in printed
    assert f"F1 (spam): {metrics['f1']:.4f}" in printed
    assert (metrics["n_train"], metrics["n_test"]) == (6, 4)
    assert np.sum(metrics["confusion"]) == 4
    assert metrics["options"]["epochs"] == 2

    model = TextClassifier.load(directory / "model.keras")
    assert int(model.optimizer.iterations.numpy()) == 4  # 2 epochs of 2 batches
    texts, labels = [text for _, text in ROWS[6:]], [label for label, _ in ROWS[6:]]
    predicted = model.predict_labels(texts, verbose=0)
    assert metrics["accuracy"] == np.mean(predicted == labels)

    head, *rows = (directory / "mistakes.tsv").read_text(encoding="utf-8").splitlines()
    assert head == "line\ttrue\tpredicted\tprobability\ttext"
    shown = [text.replace("\n", " ") for text in texts]
    lines = [8, 9, 10, 12]
    expected = [
        (str(line), true, wrong, text)
        for line, true, wrong, text in zip(lines, labels, predicted, shown, strict=True)
        if true != wrong
    ]
    found = [row.split("\t") for row in rows]
    assert [(line, true, wrong, text) for line, true, wrong, _, text in found] == expected
    assert all(0.5 <= float(probability) <= 1.0 for *_, probability, _ in found)


def test_positive_label_is_spam_or_the_rarest_or_the_users():
    def positive(given=None, **counts):
        return _positive_label(argparse.Namespace(positive_label=given), counts)

    assert positive(ham=1, spam=2) == "spam"
    assert positive(a=1, b=2) == "a"
    assert positive("b", a=1, b=2) == "b"


def run(capsys, *arguments):
    status = main(["classifier", *map(str, arguments)])
    out, err = capsys.readouterr()
    return status, out, err


KAGGLE = ("--text-column", "v2", "--label-column", "v1")
ONLY_HAM = [("ham", text) for _, text in ROWS]
HAM_FIRST = sorted(ROWS)
NEW_LAST = [*ROWS, ("eggs", "new")]


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (table(ROWS), (), "no column 'text'. Its columns: v1, v2 (2 unnamed)"),
        (table(ONLY_HAM), KAGGLE, "every label is 'ham'. A classifier needs two classes"),
        (table(HAM_FIRST), ("--test-fraction", "0.5", *KAGGLE), "all 5 training rows are 'ham'"),
        (table(NEW_LAST), KAGGLE, "line 13: the label 'eggs' occurs in the test part only"),
        (table(NEW_LAST), ("--stratify", *KAGGLE), "--stratify: The least populated class"),
        (table(ROWS[:2]), ("--test-fraction", "0.99", *KAGGLE), "leaves 0 rows for training"),
        (table([(f"{i}", t) for i, t in enumerate("abcdefghijkl")]), KAGGLE, "12 different labels"),
        (table(ROWS), ("--positive-label", "eggs", *KAGGLE), "'eggs' is not among the labels"),
        (table(ROWS), ("--source", __file__, *KAGGLE), f"--source {__file__}: "),
        (table(ROWS), ("--delimiter", ";;", *KAGGLE), "--delimiter: must be one character"),
        (table(ROWS), ("--ngrams", *KAGGLE), "--ngrams has a meaning with --logistic only"),
        (table(ROWS), ("--logistic", "--epochs", "2", *KAGGLE), "--epochs has no meaning with"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(tmp_path, capsys, content, arguments, message):
    path = tmp_path / "data.csv"
    path.write_text(content, encoding="utf-8")
    status, out, err = run(capsys, path, "--output", tmp_path / "out", *arguments)
    assert status == 2
    assert message in err
    assert err.startswith("keras_elmo-train") and ": error: " in err
    assert err.count("\n") == 1 and "Traceback" not in err
    assert out == ""
    assert [p.name for p in tmp_path.iterdir()] == ["data.csv"]


def test_logistic_writes_the_same_files(data, tiny_directory, tmp_path, capsys):
    status, out, _ = run(
        *(capsys, data, *KAGGLE, "--logistic", "--ngrams", "--source", tiny_directory),
        *("--test-fraction", "0.4", "--output", tmp_path / "out", "--plots", tmp_path / "plots"),
    )
    assert status == 0
    assert "accuracy: " in out
    assert [path.name for path in (tmp_path / "plots").iterdir()] == ["confusion.png"]
    options = json.loads((tmp_path / "out" / "metrics.json").read_text())["options"]
    assert (options["logistic"], options["ngrams"]) == (True, True)


def test_tab_is_a_delimiter(tmp_path, capsys):
    (tmp_path / "data.txt").write_text("v1\tv2\n", encoding="utf-8")
    status, _, err = run(capsys, tmp_path / "data.txt", "--delimiter", "tab", *KAGGLE)
    assert (status, "header row only" in err) == (2, True)


def test_output_that_is_in_use_is_told_before_any_work(tmp_path, capsys):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "model.keras").write_text("mine")
    status, _, err = run(capsys, tmp_path / "none.csv", "--output", tmp_path / "out")
    assert status == 2
    assert "earlier run" in err and "--overwrite" in err
    assert (tmp_path / "out" / "model.keras").read_text() == "mine"


@pytest.fixture
def quick(monkeypatch):
    """Replaces training and test by a fixed result."""

    def test(run, model, seconds):
        return Evaluation(("ham", "spam"), run.true, np.tile([[0.9, 0.1]], (len(run.true), 1)))

    monkeypatch.setattr(TextClassifier, "fit", lambda *_, **__: None)
    monkeypatch.setattr(LabelledRun, "_test", test)


def test_sample_of_the_package_without_data(tiny_directory, quick, capsys):
    assert main(["classifier", "--source", str(tiny_directory), "--stratify"]) == 0
    printed = capsys.readouterr().out
    assert f"the SMS sample of the package, {len(load_sms_sample()[0])} rows" in printed
    assert "(stratified)\nreading the training texts once for their statistics\n" in printed
    assert "accuracy: 0." in printed and "written to" not in printed


@pytest.mark.parametrize(
    ("method", "error", "status", "message"),
    [
        ("save", OSError(28, "No space left"), 2, "out cannot be written: No space left"),
        ("fit", KeyboardInterrupt(), 130, "keras_elmo-train classifier: interrupted"),
    ],
)
def test_a_failed_run_is_one_line_and_leaves_nothing(
    tiny_directory, data, capsys, monkeypatch, quick, method, error, status, message
):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(TextClassifier, method, fail)
    out = data.parent / "out"
    found, _, told = run(capsys, data, *KAGGLE, "--source", tiny_directory, "--output", out)
    assert found == status and message in told and told.count("\n") == 1
    assert os.listdir(data.parent) == ["data.csv"]


def test_a_reader_that_leaves_early_is_no_traceback(data, monkeypatch, tmp_path, quick):
    def leave(*_):
        raise BrokenPipeError

    monkeypatch.setattr(LabelledRun, "_test", leave)
    with open(tmp_path / "printed", "w", encoding="utf-8") as printed:
        monkeypatch.setattr(sys, "stdout", printed)
        assert main(["classifier", str(data), *KAGGLE]) == 141


def test_seed_and_verbosity_reach_the_training(tiny_directory, data, capsys, monkeypatch, quick):
    seen = []

    def fit(*_, verbose, **__):
        seen.append((verbose, keras.initializers.GlorotUniform()((3, 3)).numpy().tolist()))

    monkeypatch.setattr(TextClassifier, "fit", fit)
    for tty, *options in ((True, "3"), (False, "3"), (True, "4", "--quiet")):
        monkeypatch.setattr("sys.stdout.isatty", lambda tty=tty: tty)
        run(capsys, data, *KAGGLE, "--source", tiny_directory, "--seed", *options)
    verbosities, drawn = zip(*seen, strict=True)
    assert verbosities == (1, 2, 0)
    assert drawn[0] == drawn[1] != drawn[2]


def test_how_to_read_data_means_nothing_without_data(capsys):
    status, _, err = run(capsys, "--text-column", "v2")
    assert status == 2 and "--text-column needs DATA" in err
