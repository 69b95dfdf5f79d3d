"""What is at a place, told once for all rooms."""

import os
import tarfile
import zipfile

import pytest
from published import publish, tiny_model

from keras_elmo.presets import locate as locating
from keras_elmo.presets.locate import Kind, locate
from keras_elmo.presets.registry import get_model

BILM = ("options.json", "weights.hdf5")


def folder_of(path, *names):
    path.mkdir(parents=True)
    for name in names:
        (path / name).write_bytes(b"content")
    return path


def tar_of(folder, *names):
    path = folder.with_name("packed.tar.gz")
    with tarfile.open(path, "w:gz") as archive:
        for name in names or sorted(os.listdir(folder)):
            archive.add(folder / name, name)
    return path


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (BILM, Kind.DIRECTORY),
        (["saved_model.pb"], Kind.MODULE_DIRECTORY),
        ([*BILM, "saved_model.pb"], Kind.DIRECTORY),
        (["weights.hdf5", "saved_model.pb"], Kind.MODULE_DIRECTORY),
        ([], Kind.DIRECTORY),
    ],
)
def test_directory(names, kind, tmp_path):
    folder = folder_of(tmp_path / "folder", *names)
    found = locate(folder)
    assert (found.kind, found.place, found.directory) == (kind, str(folder), folder)
    assert found.is_on_disk
    assert found.is_module == (kind is Kind.MODULE_DIRECTORY)
    assert locate(str(folder)) == found


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (BILM, Kind.ARCHIVE),
        (["saved_model.pb"], Kind.MODULE_ARCHIVE),
        (["saved_model.pb", *BILM], Kind.MODULE_ARCHIVE),
        ([*BILM, "saved_model.pb"], Kind.ARCHIVE),
    ],
)
def test_archive_is_what_its_first_file_tells(names, kind, tmp_path):
    path = tar_of(folder_of(tmp_path / "folder", *names), *names)
    assert locate(path).kind is kind
    assert locate(path).directory is None


@pytest.mark.parametrize(("depth", "is_module"), [(0, True), (1, True), (2, False)])
def test_archive_of_a_module_has_it_at_the_top_or_in_one_folder(depth, is_module, tmp_path):
    with zipfile.ZipFile(tmp_path / "elmo.zip", "w") as archive:
        archive.writestr("folder/" * depth + "saved_model.pb", b"graph")
    assert locate(tmp_path / "elmo.zip").is_module == is_module


def test_refused_archive_is_one_so_that_opening_it_tells_why(tmp_path):
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as archive:
        archive.writestr("../saved_model.pb", b"graph")
    assert locate(tmp_path / "evil.zip").kind is Kind.ARCHIVE


def test_names(tmp_path, monkeypatch):
    shipped = locate("english-small")
    assert (shipped.kind, shipped.model) == (Kind.SHIPPED, get_model("english-small"))
    assert shipped.directory.joinpath("options.json").is_file()
    assert locate("original") == locating.Located(Kind.PUBLISHED, "original", get_model("original"))
    module = locate("google/elmo/3")
    assert (module.kind, module.model) == (Kind.MODULE_NAME, get_model("google/elmo/3"))
    address = locate("https://tfhub.dev/google/elmo/3")
    assert (address.model, address.handle.key) == (module.model, module.handle.key)
    assert locate("https://tfhub.dev/").handle is None and locate("https://tfhub.dev/").is_module
    assert locate("no/such/path").kind is Kind.NOTHING
    assert shipped.is_on_disk
    assert not any(locate(name).is_on_disk for name in ("original", "google/elmo/3", "no/such"))


def test_a_shipped_name_is_before_the_disk_and_the_disk_before_a_published_one(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for name in ("english-small", "original", "google/elmo/3"):
        folder_of(tmp_path / name, *BILM)
    assert locate("english-small").kind is Kind.SHIPPED
    assert locate("original").kind is Kind.DIRECTORY
    assert locate("google/elmo/3").kind is Kind.DIRECTORY


def test_what_is_no_name(tmp_path):
    (tmp_path / "text").write_text("text")
    assert locate(tmp_path / "text").kind is Kind.OTHER_FILE
    assert locate((tmp_path / "a", "b")) == locating.Located(Kind.PAIR, (str(tmp_path / "a"), "b"))
    assert locate(7) == locating.Located(Kind.NO_PLACE, 7)
    assert locate(None).kind is Kind.NO_PLACE


def test_the_registry_is_asked_each_time(monkeypatch):
    publish(monkeypatch, tiny_model("mine", shipped=True))
    assert locate("mine").kind is Kind.SHIPPED
    assert locate("english-small").kind is Kind.NOTHING
