"""`keras_elmo convert`."""

import os

import numpy as np

from keras_elmo.bilm.bilm import BiLM
from keras_elmo.cli.main import main


def test_a_module_becomes_files_of_ours(tiny_module, tiny_bilm, tmp_path, capsys):
    out = str(tmp_path / "bilm")
    assert main(["convert", tiny_module, out]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "relu, skip connections, clips 3.0"
    assert lines[1].startswith("vectors differ by ") and lines[1].endswith(
        f"written to {out}: 2 layers of 12, vectors of 16"
    )
    assert sorted(os.listdir(out)) == ["options.json", "weights.hdf5"]
    for key, array in BiLM.load(out).arrays().items():
        np.testing.assert_array_equal(array, tiny_bilm.arrays()[key])


def test_bad_places_are_told_in_one_line(tiny_module, tiny_directory, tmp_path, capsys):
    (tmp_path / "file").write_text("x")
    full = tmp_path / "full"
    full.mkdir()
    (full / "a").write_text("x")
    for arguments, message in (
        ([tiny_module, str(tmp_path / "file")], "DIR must be a directory"),
        ([tiny_module, str(full)], "DIR must be new or empty"),
        ([str(tiny_directory), str(tmp_path / "new")], "saved_model.pb"),
        ([str(tmp_path / "nothing"), str(tmp_path / "new")], "nothing"),
    ):
        assert main(["convert", *arguments]) == 2
        error = capsys.readouterr().err
        assert error.startswith("keras_elmo convert: error: ") and message in error
        assert error.count("\n") == 1
    assert not (tmp_path / "new").exists()
    options = ["--overwrite", "--dtype", "float16", "--quiet"]
    assert main(["convert", tiny_module, str(full), *options]) == 0
    assert capsys.readouterr() == ("", "")
    assert os.path.getsize(full / "weights.hdf5") < 60_000
