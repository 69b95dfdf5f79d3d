"""Places of a biLM: names, archives, and other kinds of models, which are refused."""

import os
import shutil
import tarfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from published import pair, publish, tiny_model

from keras_elmo.bilm.bilm import BiLM
from keras_elmo.presets import locate as locating
from keras_elmo.presets import open_model as opening
from keras_elmo.presets.registry import RemoteFile


def packed(folder, path, mode="w:gz", prefix="bilm/"):
    """A tar archive of a folder's files."""
    with tarfile.open(path, mode) as archive:
        for name in sorted(os.listdir(folder)):
            archive.add(folder / name, arcname=prefix + name)
    return path


@pytest.mark.parametrize(("mode", "prefix"), [("w", "./"), ("w:xz", "slovenian/")])
def test_tar_archives(mode, prefix, tiny_directory, tiny_bilm, tmp_path):
    path = packed(tiny_directory, tmp_path / "bilm.tar", mode, prefix)
    assert BiLM.load(path).fingerprint() == tiny_bilm.fingerprint()


@pytest.mark.parametrize("mode", ["w", "w:gz"])
@pytest.mark.parametrize("seed", range(3))
def test_damaged_tars_are_named(seed, mode, tiny_directory, tmp_path):
    path = packed(tiny_directory, tmp_path / "bilm.tar", mode)
    content = bytearray(path.read_bytes())
    rng = np.random.default_rng(seed)
    for place in rng.integers(0, len(content), 30):
        content[place] ^= int(rng.integers(1, 256))
    path.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            BiLM.load(path)
    except (ValueError, FileNotFoundError) as error:
        assert "bilm.tar" in str(error)


def test_two_candidates_in_a_tar(tiny_directory, tmp_path):
    model = shutil.copytree(tiny_directory, tmp_path / "model")
    shutil.copy(model / "weights.hdf5", model / "old.hdf5")
    with pytest.raises(ValueError, match=r"one file of weights.*old.hdf5.*give the pair"):
        BiLM.load(packed(model, tmp_path / "bilm.tar"))


@pytest.mark.parametrize("bound", ["LARGEST_OPTIONS", "LARGEST_WEIGHTS"])
@pytest.mark.parametrize("form", ["zip", "tar"])
def test_sizes_in_archives_are_bounded(form, bound, tiny_directory, tmp_path, monkeypatch):
    monkeypatch.setattr(opening, bound, 100)
    path = packed(tiny_directory, tmp_path / "bilm.tar")
    if form == "zip":
        path = shutil.make_archive(str(tmp_path / "bilm"), "zip", tiny_directory)
    with pytest.raises(ValueError, match="must be at most 100 bytes.*give the directory"):
        BiLM.load(path)


def test_a_published_archive(server, tiny_directory, tiny_bilm, tmp_path, monkeypatch):
    path = shutil.make_archive(str(tmp_path / "211"), "zip", tiny_directory)
    server.answers["211.zip"] = Path(path).read_bytes()
    file = RemoteFile("archive", "211.zip", server.url("211.zip"))
    publish(monkeypatch, tiny_model("nlpl-211", [file]))
    for _ in range(2):
        assert BiLM.load("nlpl-211").fingerprint() == tiny_bilm.fingerprint()
    assert server.requests == ["211.zip"]


def test_what_is_on_disk_comes_before_a_published_name(
    served, tiny_bilm, make_tiny_bilm, tmp_path, monkeypatch
):
    publish(monkeypatch, tiny_model("small", pair(served.url)))
    monkeypatch.chdir(tmp_path)
    own = make_tiny_bilm(seed=1)
    own.save("small")
    assert BiLM.load("small").fingerprint() == own.fingerprint()
    assert served.requests == []
    shutil.rmtree("small")
    assert BiLM.load("small").fingerprint() == tiny_bilm.fingerprint()


def test_a_shipped_model_where_the_package_lies_in_a_zip_file(
    tiny_directory, tiny_bilm, tmp_path, monkeypatch
):
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as archive:
        for path in tiny_directory.iterdir():
            archive.write(path, f"keras_elmo/presets/english-small/{path.name}")
    root = zipfile.Path(tmp_path / "package.zip", "keras_elmo/presets/")
    monkeypatch.setattr(locating, "preset_directory", root.joinpath)
    assert BiLM.load("english-small").fingerprint() == tiny_bilm.fingerprint()


MANY_LANGS = ["char.dic", "config.json", "encoder.pkl", "token_embedder.pkl", "word.dic"]


@pytest.mark.parametrize("form", ["directory", "zip", "tar"])
@pytest.mark.parametrize("names", [MANY_LANGS, ["encoder.pkl", "token_embedder.pkl"]])
def test_elmo_for_many_langs_is_refused_with_the_reason(names, form, tmp_path):
    folder = tmp_path / "150"
    folder.mkdir()
    for name in names:
        (folder / name).write_bytes(b"\x80\x02.")
    places = {"directory": lambda: folder, "tar": lambda: packed(folder, tmp_path / "150.tar")}
    make = places.get(form, lambda: shutil.make_archive(str(folder), "zip", folder))
    with pytest.raises(ValueError, match="ELMoForManyLangs.*pickled PyTorch.*CLARIN 11356/1277"):
        BiLM.load(make())


@pytest.mark.parametrize("form", ["directory", "tar"])
def test_modules_are_sent_elsewhere(form, tmp_path):
    folder = tmp_path / "elmo"
    folder.mkdir()
    (folder / "saved_model.pb").write_bytes(b"graph")
    place = folder if form == "directory" else packed(folder, tmp_path / "elmo.tar.gz")
    with pytest.raises(ValueError, match="a TF-Hub module.*ELMoEmbedding.*keras_elmo convert"):
        BiLM.load(place)


@pytest.mark.parametrize("name", ["google/elmo/3", "https://tfhub.dev/google/elmo/3"])
def test_names_of_modules_are_sent_elsewhere(name):
    with pytest.raises(ValueError, match=rf"{name}', a TF-Hub module.*convert {name} DIRECTORY"):
        BiLM.load(name)


def test_unknown_names_list_those_like_it():
    with pytest.raises(FileNotFoundError, match=r"nothing is there.*Did you mean 'original'"):
        BiLM.load("orginal")
    with pytest.raises(FileNotFoundError, match="ELMoForManyLangs"):
        BiLM.load("nlpl-144")
    with pytest.raises(ValueError, match="swedish: the address of its files is not verified"):
        BiLM.load("swedish")
