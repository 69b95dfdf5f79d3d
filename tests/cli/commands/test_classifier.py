import argparse
import json
import os

import keras
import numpy as np
import pytest

from keras_elmo.cli import trained as trained_files
from keras_elmo.cli.commands import classifier as command
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


def test_mistakes_stay_one_line_each(tmp_path):
    evaluation = command.Evaluation(("ham", "spam"), ["ham"], np.array([[0.25, 0.75]]))
    source = command.Table("name", ["a\tb\r\nc\x0bd"], ["ham"], [7])
    trained_files.write_mistakes(tmp_path / "m.tsv", command._mistakes(evaluation, source, [0]))
    text = (tmp_path / "m.tsv").read_text(encoding="utf-8")
    assert text == "line\ttrue\tpredicted\tprobability\ttext\n7\tham\tspam\t0.7500\ta b c d\n"


def test_sample_of_the_package_without_data(tiny_directory, capsys):
    arguments = ["classifier", "--source", str(tiny_directory), "--pooling", "mean", "--stratify"]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert f"the SMS sample of the package, {len(load_sms_sample()[0])} rows" in printed
    assert "(stratified)" in printed
    assert "accuracy: 0." in printed or "accuracy: 1." in printed
    assert "loss: " in printed  # Keras' line for the epoch
    assert "written to" not in printed


def test_positive_label_is_spam_or_the_rarest_or_the_users():
    def positive(labels, given=None):
        args = argparse.Namespace(positive_label=given)
        return command._positive_label(args, command.Table("t", labels, labels, labels))

    assert positive(["spam", "spam", "ham"]) == "spam"
    assert positive(["b", "b", "a"]) == "a"
    assert positive(["b", "b", "a"], given="b") == "b"


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
        (None, (), "data.csv does not exist"),
        (table(ROWS), (), "no column 'text'. Its columns: v1, v2 (2 unnamed)"),
        (table(ONLY_HAM), KAGGLE, "every label is 'ham'. A classifier needs two classes"),
        (table(HAM_FIRST), ("--test-fraction", "0.5", *KAGGLE), "all 5 training rows are 'ham'"),
        (table(HAM_FIRST), ("--test-fraction", "0.5", *KAGGLE), "--shuffle or --stratify"),
        (table(NEW_LAST), KAGGLE, "line 13: the label 'eggs' occurs in the test part only"),
        (table(ROWS[:2]), ("--test-fraction", "0.99", *KAGGLE), "leaves 0 rows for training"),
        (table([(f"{i}", t) for i, t in enumerate("abcdefghijkl")]), KAGGLE, "12 different labels"),
        (table(ROWS), ("--positive-label", "eggs", *KAGGLE), "'eggs' is not among the labels"),
        (table(ROWS), ("--source", "no-such-place", *KAGGLE), "--source no-such-place: "),
        (table(ROWS), ("--epochs", "0", *KAGGLE), "--epochs: must be a whole number of at least 1"),
        (table(ROWS), ("--epochs", "x", *KAGGLE), "not 'x'"),
        (table(ROWS), ("--batch-size", "-3", *KAGGLE), "--batch-size: must be"),
        (table(ROWS), ("--test-fraction", "1", *KAGGLE), "--test-fraction: must be between 0 and"),
        (table(ROWS), ("--test-fraction", "a", *KAGGLE), "--test-fraction: must be between 0 and"),
        (table(ROWS), ("--seed", "-1", *KAGGLE), "--seed: must be"),
        (table(ROWS), ("--seed", "a", *KAGGLE), "--seed: must be"),
        (table(ROWS), ("--delimiter", ";;", *KAGGLE), "--delimiter: must be one character"),
        (table(ROWS), ("--pooling", "sum", *KAGGLE), "--pooling: invalid choice: 'sum'"),
        (table(ROWS), ("--ngrams", *KAGGLE), "--ngrams has a meaning with --logistic only"),
        (table(ROWS), ("--logistic", "--epochs", "2", *KAGGLE), "--epochs has no meaning with"),
        (table(ROWS), ("--no-such-option",), "unrecognized arguments: --no-such-option"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(tmp_path, capsys, content, arguments, message):
    path = tmp_path / "data.csv"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    status, out, err = run(capsys, path, "--output", tmp_path / "out", *arguments)
    assert status == 2
    assert message in err
    assert err.startswith("keras_elmo-train") and ": error: " in err
    assert err.count("\n") == 1 and "Traceback" not in err
    assert out == ""
    assert [p.name for p in tmp_path.iterdir()] == ([] if content is None else ["data.csv"])


def test_logistic_needs_scikit_learn_before_any_work(data, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    status, out, err = run(capsys, data, *KAGGLE, "--logistic", "--output", tmp_path / "out")
    assert (status, out) == (2, "")
    assert "--logistic: " in err and 'pip install "keras_elmo[logistic]"' in err
    assert err.count("\n") == 1


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
    loaded = TextClassifier.load(tmp_path / "out" / "model.keras")
    assert loaded.predict_labels([text for _, text in ROWS[:6]], verbose=0).tolist() == [
        label for label, _ in ROWS[:6]
    ]


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

    def test(args, classifier, table, rows):
        true = [table.labels[row] for row in rows]
        return command.Evaluation(("ham", "spam"), true, np.tile([[0.9, 0.1]], (len(true), 1))), 0.0

    monkeypatch.setattr(command, "_train", lambda *_: 0.0)
    monkeypatch.setattr(command, "_test", test)


def test_failed_writing_is_one_line(tiny_directory, data, capsys, monkeypatch, quick):
    def fail(self, path):
        (path.parent / "half").write_text("")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(TextClassifier, "save", fail)
    out = data.parent / "out"
    status, _, err = run(capsys, data, *KAGGLE, "--source", tiny_directory, "--output", out)
    assert status == 2
    assert "cannot be written" in err and "No space left" in err and err.count("\n") == 1
    assert os.listdir(data.parent) == ["data.csv"]


def test_interrupt_ends_with_130_and_one_line(tiny_directory, data, capsys, monkeypatch, quick):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_train", interrupt)
    out = data.parent / "out"
    status, _, err = run(capsys, data, *KAGGLE, "--source", tiny_directory, "--output", out)
    assert (status, err) == (130, "keras_elmo-train classifier: interrupted\n")
    assert os.listdir(data.parent) == ["data.csv"]


def test_seed_fixes_the_weights(tiny_directory, data, capsys, monkeypatch, quick):
    kernels = []

    def draw(*_):
        kernels.append(keras.initializers.GlorotUniform()((3, 3)).numpy())
        return 0.0

    monkeypatch.setattr(command, "_train", draw)
    for seed in ("3", "3", "4"):
        run(capsys, data, *KAGGLE, "--source", tiny_directory, "--seed", seed)
    assert np.array_equal(kernels[0], kernels[1])
    assert not np.array_equal(kernels[0], kernels[2])


@pytest.mark.parametrize(
    ("tty", "quiet", "verbose"), [(True, False, 1), (False, False, 2), (True, True, 0)]
)
def test_progress_bar_on_a_terminal(monkeypatch, tty, quiet, verbose):
    monkeypatch.setattr("sys.stdout.isatty", lambda: tty)
    assert trained_files.verbosity(argparse.Namespace(quiet=quiet)) == verbose


@pytest.mark.parametrize(
    "options",
    [["--text-column", "v2"], ["--encoding", "latin-1"], ["--no-header"], ["--delimiter", "tab"]],
)
def test_how_to_read_data_means_nothing_without_data(capsys, options):
    status, _, err = run(capsys, *options)
    assert status == 2 and f"{options[0]} needs DATA" in err


def test_the_current_directory_is_no_output(data, tmp_path, capsys, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    status, _, err = run(capsys, data, *KAGGLE, "--output", ".")
    assert status == 2 and "current directory" in err


def test_output_that_cannot_be_written_is_told_before_any_work(data, capsys):
    status, _, err = run(capsys, data, *KAGGLE, "--output", "/proc/keras_elmo_out")
    assert status == 2 and "cannot be made" in err
