"""`--plots` of the commands that train."""

import os
import sys
import types

import pytest
from tiny_pretraining import write_corpus

from keras_elmo import plots
from keras_elmo.cli import plots as drawing
from keras_elmo.cli.command import UserError
from keras_elmo.cli.train import main

OF_TRAINING = ["confusion", "layer-weights", "learning-curves"]
TAGGED = ["Ann\tA", "sees\tB", "", "No\tA", "", "Bob\tB", "sleeps\tA", "", "No\tB", ""]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current directory, with something to train on."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{'spam' if k % 2 else 'ham'},text {k}" for k in range(10)]
    (tmp_path / "data.csv").write_text("\n".join(["label,text", *rows]))
    (tmp_path / "tagged.tsv").write_text("\n".join(TAGGED * 3))
    write_corpus(tmp_path)
    return tmp_path


def classify(source, *options):
    return main(["classifier", "data.csv", "--source", str(source), "--quiet", *options])


def tag(source, *options):
    arguments = ["--source", str(source), "--units", "0", "--epochs", "2", "--quiet"]
    return main(["tagger", "tagged.tsv", *arguments, *options])


@pytest.mark.parametrize("command", [classify, tag])
def test_training_draws_three_pictures(command, tiny_directory, folder, capsys):
    assert command(tiny_directory, "--plots", "a/pictures", "--output", "a/model") == 0
    assert sorted(os.listdir("a/pictures")) == [f"{name}.png" for name in OF_TRAINING]
    assert all((folder / "a/pictures" / name).stat().st_size for name in os.listdir("a/pictures"))
    assert "drawn in a/pictures: learning-curves.png, confusion.png" in capsys.readouterr().out


def test_pictures_of_an_earlier_run_are_replaced_with_overwrite_only(
    tiny_directory, folder, capsys
):
    options = ("--plots", "pictures", "--plot-format", "svg")
    (folder / "pictures").mkdir()
    (folder / "pictures" / "confusion.svg").write_text("old")
    (folder / "pictures" / "notes.txt").write_text("mine")
    assert classify(tiny_directory, *options) == 2
    assert "pictures/confusion.svg exists. Give another" in capsys.readouterr().err
    assert classify(tiny_directory, *options, "--overwrite") == 0
    assert (folder / "pictures" / "confusion.svg").read_text().startswith("<?xml")
    expected = sorted([f"{name}.svg" for name in OF_TRAINING] + ["notes.txt"])
    assert sorted(os.listdir("pictures")) == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--plot-format", "svg"], "--plot-format has a meaning with --plots only"),
        (["--plots", "data.csv"], "--plots: data.csv is a file"),
        (["--plots", "data.csv/x"], "data.csv is not a writable directory"),
        (["--plots", "out", "--output", "out"], "--plots: out is in --output"),
        (["--plots", "out/a/b", "--output", "out"], "--plots: out/a/b is in --output"),
        (["--plots", "p", "--plot-format", "jpg"], "invalid choice: 'jpg'"),
    ],
)
def test_fault_is_one_line_before_training(options, message, tiny_directory, folder, capsys):
    before = sorted(os.listdir())
    assert classify(tiny_directory, *options) == 2
    out, error = capsys.readouterr()
    assert out == "" and error.count("\n") == 1
    assert message in error
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize("command", ["classifier", "tagger", "bilm"])
def test_missing_matplotlib_is_told_before_training(command, folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    arguments = {
        "classifier": ["data.csv"],
        "tagger": ["tagged.tsv"],
        "bilm": ["text.txt", "--output", "out"],
    }[command]
    assert main([command, *arguments, "--plots", "pictures"]) == 2
    out, error = capsys.readouterr()
    assert out == "" and error.count("\n") == 1
    assert "--plots: Pictures need matplotlib" in error and '"keras_elmo[plots]"' in error
    assert not os.path.exists("out") and not os.path.exists("pictures")


def test_where_one_picture_fails_none_is_written(folder, monkeypatch):
    def save(figure, path):
        if "two" in path.name:
            raise OSError("no space")
        path.write_text("one")

    monkeypatch.setattr(plots, "save", save)
    args = types.SimpleNamespace(plots="pictures", plot_format=None)
    with pytest.raises(UserError, match="pictures cannot be written: no space"):
        drawing.write_plots(args, {"one": None, "two": None})
    assert os.listdir("pictures") == []
