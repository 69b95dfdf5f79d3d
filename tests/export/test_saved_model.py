import os

import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.export.place import check_place
from keras_elmo.export.saved_model import TEXT, graph_of, write_saved_model


@pytest.fixture
def doubled():
    """A signature of lengths times a variable 2, and this variable."""
    factor = keras.Variable(2, dtype="int32", trainable=False)
    return {"lengths": graph_of(lambda text: {"n": factor * tf.strings.length(text)}, TEXT)}, factor


def lengths(directory):
    signature = tf.saved_model.load(os.fspath(directory)).signatures["lengths"]
    return signature(text=tf.constant(["abc", ""]))["n"].numpy().tolist()


def test_a_function_and_the_variables_that_it_uses_are_written(doubled, tmp_path):
    signatures, factor = doubled
    other = keras.Variable(np.zeros(3), trainable=False)
    write_saved_model(tmp_path / "new/1", signatures, {"other": other, "a": factor, "b": factor})
    assert lengths(tmp_path / "new/1") == [6, 0]
    found = tf.train.list_variables(os.fspath(tmp_path / "new/1/variables/variables"))
    assert sum(name.startswith("state") for name, _ in found) == 1


def test_overwrite_replaces_a_saved_model(doubled, tmp_path):
    signatures, factor = doubled
    write_saved_model(tmp_path / "m", signatures, {"factor": factor})
    factor.assign(3)
    with pytest.raises(FileExistsError, match="a SavedModel. Give another, or .*`overwrite=True`"):
        write_saved_model(tmp_path / "m", signatures, {"factor": factor})
    assert lengths(tmp_path / "m") == [6, 0]
    write_saved_model(tmp_path / "m", signatures, {"factor": factor}, overwrite=True)
    assert lengths(tmp_path / "m") == [9, 0]
    assert os.listdir(tmp_path) == ["m"]


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert check_place(tmp_path / "link", False) == tmp_path / "real"


@pytest.mark.parametrize("names", [["notes.txt"], ["saved_model.pb", "notes.txt"], ["assets"]])
def test_other_files_are_never_replaced(names, tmp_path):
    (tmp_path / "m").mkdir()
    for name in names:
        (tmp_path / "m" / name).touch()
    for overwrite in (False, True):
        with pytest.raises(FileExistsError, match=f"or a SavedModel to replace.*{names[-1]}"):
            check_place(tmp_path / "m", overwrite)


def test_neither_a_file_nor_the_current_directory_is_replaced(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FileExistsError, match="Received: .*file, a file"):
        check_place(tmp_path / "file", True)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(FileExistsError, match="the current directory"):
        check_place(".", True)
    with pytest.raises(TypeError, match="`overwrite` must be True or False"):
        check_place(tmp_path / "new", "onnx")
