import os

import numpy as np
import pytest
from google.protobuf import text_format

from keras_elmo import export_projector
from keras_elmo.corpora import projector

FILES = ["metadata.tsv", "projector_config.pbtxt", "vectors.tsv"]


def projector_config():
    """TensorBoard's own message, or the copy of it in TensorFlow."""
    try:
        from tensorboard.plugins.projector import ProjectorConfig
    except ImportError:
        from tensorflow.python.keras.protobuf.projector_config_pb2 import ProjectorConfig
    return ProjectorConfig()


def test_files_are_what_the_projector_reads(tmp_path):
    vectors = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    export_projector(tmp_path / "logs" / "run", vectors, ["a", "b", "한국어", 4])
    folder = tmp_path / "logs" / "run"
    assert sorted(os.listdir(folder)) == FILES
    config = text_format.Parse((folder / FILES[1]).read_text("utf-8"), projector_config())
    (embedding,) = config.embeddings
    assert list(embedding.tensor_shape) == [4, 3]
    read = np.loadtxt(folder / embedding.tensor_path, delimiter="\t", dtype=np.float32)
    np.testing.assert_array_equal(read, vectors)
    labels = (folder / embedding.metadata_path).read_text("utf-8").split("\n")
    assert labels == ["a", "b", "한국어", "4", ""]  # a single column has no line of names


def test_several_columns_have_a_line_of_names(tmp_path):
    export_projector(tmp_path, np.eye(2), {"the word": ["bank", "shore"], "line": [3, 1]})
    text = (tmp_path / "metadata.tsv").read_text("utf-8")
    assert text == "the word\tline\nbank\t3\nshore\t1\n"


def test_each_vector_has_one_line_whatever_its_label(tmp_path):
    labels = ["a\tb", "c\nd\r\ne", "", "  ", "f\u2028g"]
    export_projector(tmp_path, np.eye(5), labels)
    lines = (tmp_path / "metadata.tsv").read_text("utf-8").split("\n")
    assert [line.strip() for line in lines] == ["a b", "c d e", "(blank)", "(blank)", "f g", ""]
    export_projector(tmp_path, np.eye(5), {"x": labels, "y": [""] * 5}, overwrite=True)
    lines = (tmp_path / "metadata.tsv").read_text("utf-8").splitlines()
    assert len(lines) == 6 and all(line.count("\t") == 1 and line.strip() for line in lines)


def test_an_earlier_export_is_kept_unless_it_may_be_replaced(tmp_path):
    (tmp_path / "events.out").write_text("TensorBoard's own")
    export_projector(tmp_path, np.eye(2), ["a", "b"])
    with pytest.raises(FileExistsError, match="vectors.tsv exists"):
        export_projector(tmp_path, np.eye(3), ["a", "b", "c"])
    assert len((tmp_path / "vectors.tsv").read_text().splitlines()) == 2
    export_projector(tmp_path, np.eye(3), ["a", "b", "c"], overwrite=True)
    assert len((tmp_path / "vectors.tsv").read_text().splitlines()) == 3
    assert sorted(os.listdir(tmp_path)) == sorted([*FILES, "events.out"])


def test_a_fault_leaves_nothing(tmp_path, monkeypatch):
    def fail(shape):
        raise OSError("no space")

    monkeypatch.setattr(projector, "_config", fail)
    with pytest.raises(OSError, match="no space"):
        export_projector(tmp_path, np.eye(2), ["a", "b"])
    assert os.listdir(tmp_path) == []


def test_a_file_in_the_place_of_the_directory_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="Give a directory"):
        export_projector(tmp_path / "file", np.eye(2), ["a", "b"])


@pytest.mark.parametrize(
    ("vectors", "metadata", "message"),
    [
        (np.ones(3), ["a"], r"\(n, D\)"),
        (np.zeros((0, 3)), [], "at least one vector"),
        ([[np.inf, 0.0]], ["a"], "finite"),
        ([["a"]], ["a"], "dtype"),
        (np.eye(2), ["a"], "each of the 2 vectors .*'label': 1"),
        (np.eye(2), {"x": ["a", "b"], "y": ["c"]}, "'y': 1"),
        (np.eye(2), {}, "no column"),
    ],
)
def test_what_does_not_fit_is_an_error(tmp_path, vectors, metadata, message):
    with pytest.raises(ValueError, match=message):
        export_projector(tmp_path, vectors, metadata)
    assert os.listdir(tmp_path) == []
