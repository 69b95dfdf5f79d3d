"""Options and weight files as found in the wild (U35), and what is written."""

import dataclasses
import os
import shutil
import warnings
import zipfile

import h5py
import numpy as np
import pytest

from keras_elmo.bilm.bilm import BiLM

GONE = "RNN_1/RNN/MultiRNNCell/Cell1/LSTMCell/W_P_0"


@pytest.fixture
def model(tiny_directory, tmp_path):
    return shutil.copytree(tiny_directory, tmp_path / "model")


def edit(model):
    return h5py.File(model / "weights.hdf5", "r+")


def test_every_kind_of_place_gives_the_same_model(model, tiny_bilm, tmp_path):
    archive = tmp_path / "model.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.write(model / "options.json", "211/options.json")
        zipped.write(model / "weights.hdf5", "211/model.hdf5")
    pair = (model / "options.json", model / "weights.hdf5")
    for place in (model, str(model), archive, pair, list(map(str, pair))):
        assert BiLM.load(place).fingerprint() == tiny_bilm.fingerprint()


def test_published_file_names_in_a_directory(model, tiny_bilm):
    (model / "options.json").rename(model / "elmo_2x1024_128_options.json")
    (model / "weights.hdf5").rename(model / "elmo_2x1024_128_weights.hdf5")
    (model / "vocab.txt").write_text("<S>\n")
    (model / "softmax.hdf5").write_bytes(b"")
    assert BiLM.load(model).fingerprint() == tiny_bilm.fingerprint()


def test_float16_file_is_half_the_size_and_loads_as_float32(tiny_bilm, tmp_path):
    tiny_bilm.save(tmp_path / "half", dtype="float16")
    half = BiLM.load(tmp_path / "half").arrays()
    for key, array in tiny_bilm.arrays().items():
        np.testing.assert_array_equal(half[key], array.astype(np.float16))
        assert half[key].dtype == np.float32


def test_nothing_is_written_that_is_not_finite(tiny_bilm, tmp_path):
    arrays = tiny_bilm.arrays()
    arrays["CNN_proj/b_proj"][0] = 70_000.0
    tiny_bilm.set_arrays(arrays)
    with pytest.raises(ValueError, match="finite in float16.*'CNN_proj/b_proj'"):
        tiny_bilm.save(tmp_path, dtype="float16")
    assert os.listdir(tmp_path) == []
    tiny_bilm.save(tmp_path)


def test_save_leaves_two_files_and_replaces_older_ones(tiny_bilm, make_tiny_bilm, tmp_path):
    make_tiny_bilm(seed=1).save(tmp_path)
    tiny_bilm.save(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["options.json", "weights.hdf5"]
    assert BiLM.load(tmp_path).fingerprint() == tiny_bilm.fingerprint()
    with pytest.raises(ValueError, match="`dtype` must be"):
        tiny_bilm.save(tmp_path, dtype="int8")


def test_u35_missing_dataset_is_named_before_anything_is_built(model, monkeypatch):
    with edit(model) as file:
        del file[GONE]
    monkeypatch.setattr(BiLM, "__init__", None)
    with pytest.raises(ValueError, match=rf"weights.hdf5 must hold .*'{GONE}'"):
        BiLM.load(model)


def test_u35_extra_datasets_give_one_note_or_an_error_when_strict(model):
    expected = BiLM.load(model).fingerprint()
    with edit(model) as file:
        file["softmax/W"] = np.zeros((3, 8))
        file["softmax/b"] = np.zeros(3)
    with pytest.warns(UserWarning, match="'softmax/W', 'softmax/b'") as notes:
        assert BiLM.load(model).fingerprint() == expected
    assert len(notes) == 1
    with pytest.raises(ValueError, match="strict"):
        BiLM.load(model, strict=True)


LARGER = (
    "RNN_0/RNN/MultiRNNCell/Cell2/LSTMCell/W_0",
    "CNN_high_1/W_carry",
    "CNN/W_cnn_3",
)


@pytest.mark.parametrize("key", LARGER)
def test_weights_of_a_larger_bilm_contradict_the_options(model, key):
    with edit(model) as file:
        file[key] = np.zeros(3)
    with pytest.raises(ValueError, match=f"datasets of a larger biLM: '{key}'.*lstm.n_layers"):
        BiLM.load(model)


def flip_bytes(path, seed):
    """Damages a file in a few places; the damage depends on the seed only."""
    content = bytearray(path.read_bytes())
    rng = np.random.default_rng(seed)
    for place in rng.integers(0, len(content), 30):
        content[place] ^= int(rng.integers(1, 256))
    path.write_bytes(content)


def load_or_name(place, name):
    """Damage in a place that nobody reads does no harm; all other gives one error with the name."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            BiLM.load(place)
    except (ValueError, FileNotFoundError) as error:
        assert name in str(error)


@pytest.mark.parametrize("seed", range(12))
def test_damaged_weights_are_named(model, seed):
    flip_bytes(model / "weights.hdf5", seed)
    load_or_name(model, "weights.hdf5")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_damaged_archives_are_named(model, tmp_path, seed, method):
    archive = tmp_path / "model.zip"
    with zipfile.ZipFile(archive, "w", method) as zipped:
        for name in ("options.json", "weights.hdf5"):
            zipped.write(model / name, name)
    flip_bytes(archive, seed)
    load_or_name(archive, "model.zip")


def test_archive_from_a_mac(model, tiny_bilm, tmp_path):
    archive = tmp_path / "model.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        for name in ("options.json", "weights.hdf5"):
            zipped.write(model / name, name)
            zipped.writestr(f"__MACOSX/{name}", b"")
    assert BiLM.load(archive).fingerprint() == tiny_bilm.fingerprint()


def test_u35_wrong_shape_names_key_shapes_and_option(model):
    with edit(model) as file:
        del file["CNN_proj/W_proj"]
        file["CNN_proj/W_proj"] = np.zeros((18, 9), np.float32)
    message = r"'CNN_proj/W_proj' must have shape \(18, 8\), .*lstm.projection_dim.*\(18, 9\)"
    with pytest.raises(ValueError, match=message):
        BiLM.load(model)


@pytest.mark.parametrize("size", [0, 3000])
def test_truncated_or_other_file(model, size):
    content = (model / "weights.hdf5").read_bytes()
    (model / "weights.hdf5").write_bytes(content[:size])
    with pytest.raises(ValueError, match=r"weights.hdf5 must be a complete HDF5 file"):
        BiLM.load(model)


def test_weights_that_are_not_finite(model):
    with edit(model) as file:
        file["CNN_proj/b_proj"][3] = np.nan
    with pytest.raises(ValueError, match="'CNN_proj/b_proj' must be finite"):
        BiLM.load(model)


def test_weights_that_are_not_numbers(model):
    with edit(model) as file:
        del file["CNN_proj/b_proj"]
        file["CNN_proj/b_proj"] = np.zeros(8, np.int32)
    with pytest.raises(ValueError, match="floating point"):
        BiLM.load(model)


def _declared_only(model, **options):
    """A file that says it holds a tensor and has no byte of it."""
    with edit(model) as weights:
        shape = weights[GONE].shape
        del weights[GONE]
        weights.create_dataset(GONE, shape, "float32", **options)


def test_values_that_are_not_in_the_file_are_not_made_up(model):
    _declared_only(model, chunks=True)
    with pytest.raises(ValueError, match=f"'{GONE}' must lie in the file.*0 bytes for 384"):
        BiLM.load(model)


def test_values_in_another_file_are_refused(model, tmp_path):
    (tmp_path / "other").write_bytes(bytes(384))
    _declared_only(model, external=[(str(tmp_path / "other"), 0, 384)])
    with pytest.raises(ValueError, match=f"'{GONE}' must lie in the file"):
        BiLM.load(model)


def test_files_the_wrong_way_round(model):
    with pytest.raises(ValueError, match="options file; in a pair it comes first"):
        BiLM.load((model / "weights.hdf5", model / "options.json"))


def test_a_file_in_which_the_filters_need_no_projection(tiny_config, make_tiny_bilm, tmp_path):
    """The published trainer writes no projection where it would change no size."""
    config = dataclasses.replace(tiny_config, filters=((1, 3), (2, 5)))
    bilm = make_tiny_bilm(config)
    arrays = bilm.arrays()
    arrays["CNN_proj/W_proj"], arrays["CNN_proj/b_proj"] = np.eye(8), np.zeros(8)
    bilm.set_arrays(arrays)
    bilm.save(tmp_path)
    with h5py.File(tmp_path / "weights.hdf5", "r+") as file:
        del file["CNN_proj"]
    assert BiLM.load(tmp_path).fingerprint() == bilm.fingerprint()


def test_nothing_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"english-small.*nothing is there"):
        BiLM.load(tmp_path / "absent")
    with pytest.raises(FileNotFoundError, match="no file is there"):
        BiLM.load((tmp_path / "options.json", tmp_path / "weights.hdf5"))
    with pytest.raises(FileNotFoundError, match="one file of options"):
        BiLM.load(tmp_path)
    with pytest.raises(TypeError, match="A biLM must be given as the name"):
        BiLM.load(7)
    with pytest.raises(ValueError, match="must be \\(options, weights\\)"):
        BiLM.load(["a", "b", "c"])


def test_two_candidates_in_a_directory(model):
    shutil.copy(model / "weights.hdf5", model / "old.hdf5")
    with pytest.raises(ValueError, match=r"one file of weights.*old.hdf5.*Leave one of them there"):
        BiLM.load(model)
