"""`--plots` of the commands that train."""

import os
import sys
import types

import pytest

from keras_elmo import plots
from keras_elmo.cli import plots as drawing
from keras_elmo.cli.command import UserError
from keras_elmo.cli.train import main

OF_TRAINING = ["confusion", "layer-weights", "learning-curves"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current directory, with something to train on."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{'spam' if k % 2 else 'ham'},text {k}" for k in range(10)]
    (tmp_path / "data.csv").write_text("\n".join(["label,text", *rows]))
    (tmp_path / "text.txt").write_text("a text")
    return tmp_path


def classify(source, *options):
    return main(["classifier", "data.csv", "--source", str(source), "--quiet", *options])


def test_formats_are_those_of_plots():
    assert drawing.FORMATS == plots.FORMATS


def test_training_draws_three_pictures_over_earlier_ones_with_overwrite_only(
    tiny_directory, folder, capsys
):
    options = ("--plots", "a/pictures", "--output", "a/model", "--plot-format", "svg")
    (folder / "a" / "pictures").mkdir(parents=True)
    (folder / "a" / "pictures" / "confusion.svg").write_text("old")
    (folder / "a" / "pictures" / "notes.txt").write_text("mine")
    assert classify(tiny_directory, *options) == 2
    assert "pictures/confusion.svg exists. Give another" in capsys.readouterr().err
    assert classify(tiny_directory, *options, "--overwrite") == 0
    assert "drawn in a/pictures: learning-curves.svg, confusion.svg" in capsys.readouterr().out
    expected = sorted([f"{name}.svg" for name in OF_TRAINING] + ["notes.txt"])
    assert sorted(os.listdir("a/pictures")) == expected
    for name in OF_TRAINING:
        assert (folder / "a" / "pictures" / f"{name}.svg").read_text().startswith("<?xml")


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


@pytest.mark.parametrize("arguments", ["classifier data.csv", "bilm text.txt --output out"])
def test_missing_matplotlib_is_told_before_training(arguments, folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main([*arguments.split(), "--plots", "pictures"]) == 2
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
