import h5py
import numpy as np
import pytest

from keras_elmo.language_model.files import load_language_model, save_language_model


@pytest.fixture
def directory(make_model, tmp_path):
    save_language_model(make_model(), tmp_path)
    return tmp_path


def test_preset_comes_with_its_softmax_and_vocabulary():
    model = load_language_model("english-small")
    assert len(model.vocabulary) == model.softmax.vocabulary_size == 20_003
    assert model.softmax.kind == "adaptive"
    assert model.bilm.trainable_variables == []
    assert max(np.abs(v).max() for v in model.softmax.named_variables().values()) > 0.1


@pytest.mark.parametrize("kind", ["full", "adaptive"])
def test_written_model_is_read_again(make_model, tmp_path, kind):
    model = make_model(kind)
    save_language_model(model, tmp_path)
    again = load_language_model(str(tmp_path), frozen=False)
    assert again.vocabulary.words == model.vocabulary.words
    for key, variable in model.softmax.named_variables().items():
        np.testing.assert_array_equal(variable, again.softmax.named_variables()[key])
    assert len(again.trainable_variables) == len(model.trainable_variables)


def test_files_of_two_moments_are_refused(make_model, directory, tmp_path_factory):
    """As a process leaves them that is killed between two of them."""
    later = tmp_path_factory.mktemp("later")
    model = make_model()
    model.bilm.set_arrays({key: array + 1 for key, array in model.bilm.arrays().items()})
    save_language_model(model, later)
    (directory / "weights.hdf5").write_bytes((later / "weights.hdf5").read_bytes())
    with pytest.raises(ValueError, match=r"must stand beside the weights.hdf5.*--resume"):
        load_language_model(directory)


def test_bilm_without_softmax_is_one_clear_error(tiny_directory):
    with pytest.raises(
        FileNotFoundError,
        match=r"Not there: softmax.hdf5, vocab.txt.*gives vectors \(`ELMoEmbedding`, `keras_elmo "
        r"embed`\) but predicts no words. Give 'english-small', or a directory",
    ):
        load_language_model(tiny_directory)


def test_only_the_missing_file_is_named(directory):
    (directory / "vocab.txt").unlink()
    with pytest.raises(FileNotFoundError, match="Not there: vocab.txt. A biLM"):
        load_language_model(directory)


@pytest.mark.parametrize(
    ("place", "error", "message"),
    [
        ("no-such", FileNotFoundError, "'no-such', and nothing is there. Give 'english-small', or"),
        (__file__, FileNotFoundError, "test_files.py', a file"),
        ("original", FileNotFoundError, "'original', whose published files have no softmax"),
        (("options.json", "weights.hdf5"), TypeError, "Received: tuple"),
        (None, TypeError, "Received: NoneType"),
    ],
)
def test_places_that_hold_no_language_model(place, error, message):
    with pytest.raises(error, match=message):
        load_language_model(place)


def cut(path):
    path.write_bytes(path.read_bytes()[:700])


def unnamed(path):
    with h5py.File(path, "r+") as file:
        del file.attrs["softmax"]


def infinite(path):
    with h5py.File(path, "r+") as file:
        file["b"][0] = np.inf


def without_bias(path):
    with h5py.File(path, "r+") as file:
        del file["b"]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (cut, "softmax.hdf5 must be a complete HDF5 file"),
        (unnamed, "attribute 'softmax' must be one of .* Received: None"),
        (infinite, "dataset 'b' must be finite"),
        (without_bias, r"dataset 'b' must have shape \(9,\) for the 9 words.*Received: nothing"),
    ],
)
def test_damaged_softmax_is_refused(directory, damage, message):
    damage(directory / "softmax.hdf5")
    with pytest.raises(ValueError, match=message):
        load_language_model(directory)
