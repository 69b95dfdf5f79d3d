"""TF-Hub modules: what names one, and where it is found."""

import hashlib
import os
import shutil
import sys
import tarfile
import types
from pathlib import Path

import pytest
from loopback import serving
from published import publish, tiny_model

from keras_elmo.presets import handles
from keras_elmo.presets import hub_modules as modules
from keras_elmo.presets.handles import handle_of
from keras_elmo.presets.hub_modules import cached_module, module_directory
from keras_elmo.presets.locate import locate
from keras_elmo.presets.registry import RemoteFile

FORMS = [
    "google/elmo/3",
    "https://tfhub.dev/google/elmo/3",
    "https://tfhub.dev/google/elmo/3/",
    "https://tfhub.dev/google/elmo/3?tf-hub-format=compressed",
    "https://www.kaggle.com/models/google/elmo/TensorFlow1/elmo/3",
    "https://kaggle.com/models/google/elmo/tensorFlow1/elmo/3",
    "https://www.kaggle.com/models/google/elmo/frameworks/TensorFlow1/variations/elmo/versions/3",
    "google/elmo/TensorFlow1/elmo/3",
    "google/elmo/tensorFlow1/elmo/3",
]
OTHERS = [
    *("small", "google/elmo", "google/elmo/7", "a/b/c/d/5", "", "."),
    *("https://example.com/google/elmo/3", "ftp://tfhub.dev/google/elmo/3", "https://["),
    *("google/elmo/TensorFlow1/elmo/x", "../../a/TensorFlow1/b/3"),
]
FILES = ["elmo_3.tar.gz", "elmo_3.tar.gz.sha256", "module"]


@pytest.fixture
def saved(tmp_path):
    """A directory that looks like a SavedModel."""
    folder = tmp_path / "saved"
    (folder / "variables").mkdir(parents=True)
    (folder / "saved_model.pb").write_bytes(b"graph")
    (folder / "variables" / "variables.index").write_bytes(b"index")
    return folder


def packed(folder, path, name=".", mode="w:gz"):
    with tarfile.open(path, mode) as archive:
        archive.add(folder, arcname=name)
    return path


def graph_of(directory):
    assert isinstance(directory, str)
    assert (Path(directory) / "variables" / "variables.index").read_bytes() == b"index"
    return (Path(directory) / "saved_model.pb").read_bytes()


def test_other_places_are_no_modules():
    assert [place for place in OTHERS if locate(place).is_module] == []


def test_a_directory_is_used_where_it_is(saved, cache):
    assert locate(saved).is_module and locate(str(saved)).is_module
    assert module_directory(saved) == str(saved)
    assert not locate(saved / "variables").is_module
    assert not cache.exists()
    with pytest.raises(FileNotFoundError, match=r"saved_model.pb at its top"):
        module_directory(saved / "variables")


@pytest.mark.parametrize(("name", "mode"), [(".", "w"), ("elmo", "w:gz")])
def test_an_archive_is_unpacked_once(name, mode, saved, cache, tmp_path, monkeypatch):
    path = packed(saved, tmp_path / "elmo.tar.gz", name, mode)
    directory = module_directory(path)
    assert graph_of(directory) == b"graph"
    assert directory.startswith(str(cache / "modules"))
    monkeypatch.setattr(modules, "unpack", None)
    copy = shutil.copy(path, tmp_path / "another name")
    assert module_directory(copy) == directory


def test_files_that_are_no_modules(tiny_directory, tmp_path, cache):
    bilm = packed(tiny_directory, tmp_path / "bilm.tar.gz")
    (tmp_path / "text").write_text("text")
    with pytest.raises(FileNotFoundError, match=r"bilm.tar.gz must hold a TF-Hub module"):
        module_directory(bilm)
    assert not cache.exists()
    with pytest.raises(ValueError, match="readable archive"):
        module_directory(tmp_path / "text")


@pytest.fixture
def published(server, saved, tmp_path, monkeypatch):
    """google/elmo/3 on the server of this machine."""
    content = packed(saved, tmp_path / "elmo_3.tar.gz").read_bytes()
    server.answers["google/elmo/3?tf-hub-format=compressed"] = content
    file = RemoteFile(
        "archive", "elmo_3.tar.gz", server.url("google/elmo/3?tf-hub-format=compressed")
    )
    handles = ("https://tfhub.dev/google/elmo/3", "google/elmo/TensorFlow1/elmo/3")
    model = tiny_model("google/elmo/3", [file], kind="tf_hub", handles=handles)
    publish(monkeypatch, model)
    return model


def test_all_forms_mean_the_same_module(published, server, cache):
    assert cached_module("google/elmo/3") is None
    directories = {module_directory(form) for form in FORMS}
    assert directories == {str(cache / "google--elmo--3" / "module")}
    assert graph_of(directories.pop()) == b"graph"
    assert len(server.requests) == 1
    assert cached_module(FORMS[-1]) == str(cache / "google--elmo--3" / "module")


@pytest.mark.parametrize("name", ["saved_model.pb", "extra"])
def test_a_downloaded_module_with_a_damaged_file_is_unpacked_again(
    name, published, server, saved, cache, tmp_path
):
    (saved / "extra").write_bytes(b"numbers")
    content = packed(saved, tmp_path / "more.tar.gz").read_bytes()
    server.answers["google/elmo/3?tf-hub-format=compressed"] = content
    directory = Path(module_directory("google/elmo/3"))
    whole = (directory / name).read_bytes()
    for damage in (lambda path: path.unlink(), lambda path: path.write_bytes(whole[:2])):
        damage(directory / name)
        assert cached_module("google/elmo/3") is None
        assert module_directory("google/elmo/3") == str(directory)
        assert (directory / name).read_bytes() == whole
    assert len(server.requests) == 1
    (directory / ".files.json").write_text("{")
    assert module_directory("google/elmo/3") == str(directory)


def test_a_bilm_by_name_is_told_to_be_one(published, monkeypatch):
    publish(monkeypatch, published, tiny_model("small"))
    with pytest.raises(ValueError, match="Received: 'small', which is a biLM already"):
        module_directory("small")


def test_two_that_unpack_a_damaged_one_at_once_leave_a_whole_one(published, cache, monkeypatch):
    """The other one does its whole work just before this one unpacks."""
    directory = cache / "google--elmo--3" / "module"
    (Path(module_directory(FORMS[0])) / "saved_model.pb").unlink()
    unpack, others = modules.unpack, []

    def after_another(*args):
        monkeypatch.setattr(modules, "unpack", unpack)
        others.append(module_directory(FORMS[1]))
        unpack(*args)

    monkeypatch.setattr(modules, "unpack", after_another)
    assert [module_directory(FORMS[0]), *others] == [str(directory)] * 2
    assert graph_of(str(directory)) == b"graph"
    assert sorted(os.listdir(directory.parent)) == FILES
    monkeypatch.setattr(modules, "unpack", None)
    assert module_directory(FORMS[0]) == str(directory)


def test_a_full_disk_is_told_with_the_name_that_stays(published, cache, monkeypatch):
    module = str(cache / "google--elmo--3" / "module")

    def full(_, directory):
        (directory / "half").touch()
        raise OSError(28, "No space left on device", directory)

    monkeypatch.setattr(modules, "unpack", full)
    with pytest.raises(OSError, match="could not be written .No space left on device") as error:
        module_directory(FORMS[0])
    assert str(error.value).startswith(f"{module} could") and ".writing" not in str(error.value)
    assert sorted(os.listdir(cache / "google--elmo--3")) == FILES[:2]


@pytest.mark.parametrize("address", [FORMS[1], FORMS[4]])
def test_the_cache_of_tensorflow_hub_is_used(address, published, server, saved, tmp_path):
    shutil.copytree(saved, tmp_path / "tfhub" / hashlib.sha1(address.encode()).hexdigest())
    for form in FORMS:
        assert graph_of(module_directory(form)).startswith(b"graph")
        assert module_directory(form).startswith(str(tmp_path / "tfhub"))
    (given,) = (tmp_path / "tfhub").iterdir()
    given.rename(given.with_name(hashlib.sha1(FORMS[6].encode()).hexdigest()))
    assert module_directory(FORMS[6]).startswith(str(tmp_path / "tfhub"))
    assert server.requests == []


def test_the_default_cache_of_tensorflow_hub(published, server, saved, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    digest = hashlib.sha1(b"https://tfhub.dev/google/elmo/3").hexdigest()
    shutil.copytree(saved, tmp_path / "tfhub_modules" / digest)
    expected = str(tmp_path / "tfhub_modules" / digest)
    assert cached_module("google/elmo/3") == expected
    monkeypatch.setattr(os, "getuid", lambda: 12345)  # somebody else's
    assert cached_module("google/elmo/3") is None


@pytest.fixture
def hub(saved, tmp_path, monkeypatch):
    """A tensorflow_hub that gives `saved`, and the addresses that it was asked for."""
    asked = []

    def resolve(address):
        asked.append(address)
        return str(saved)

    monkeypatch.setitem(sys.modules, "tensorflow_hub", types.SimpleNamespace(resolve=resolve))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return asked


@pytest.mark.parametrize("form", [FORMS[0], FORMS[-1]])
def test_tensorflow_hub_resolves_a_name_in_the_cache_that_it_was_told(
    form, hub, published, server, saved, cache
):
    assert module_directory(form) == str(saved)
    assert hub == ["https://tfhub.dev/google/elmo/3"]
    assert server.requests == [] and not cache.exists()


def test_what_tensorflow_hub_keeps_among_temporary_files_is_copied_to_the_cache(
    hub, published, server, saved, cache, monkeypatch
):
    monkeypatch.delenv("TFHUB_CACHE_DIR")
    directory = module_directory("google/elmo/3")
    assert directory == str(cache / "google--elmo--3" / "module")
    shutil.rmtree(saved)
    assert graph_of(module_directory(FORMS[1])) == b"graph"
    assert len(hub) == 1 and server.requests == []
    (Path(directory) / "saved_model.pb").unlink()
    assert cached_module("google/elmo/3") is None


def test_tensorflow_hub_is_not_asked_for_what_is_here_or_has_a_mirror(
    hub, published, server, cache, tmp_path, monkeypatch
):
    assert graph_of(module_directory(FORMS[0], mirror=tmp_path)) == b"graph"
    assert server.requests == []
    shutil.rmtree(cache / "google--elmo--3" / "module")
    assert module_directory(FORMS[0]).startswith(str(cache))  # from the archive there
    shutil.rmtree(cache)
    monkeypatch.delenv("TFHUB_CACHE_DIR")
    (tmp_path / "tfhub_modules").mkdir()
    monkeypatch.setattr(os, "getuid", lambda: 12345)  # somebody else's temporary files
    assert module_directory(FORMS[0]).startswith(str(cache))
    assert hub == [] and len(server.requests) == 1


def test_what_tensorflow_hub_cannot_resolve_is_downloaded_as_without_it(
    hub, published, server, monkeypatch
):
    def fails(_):
        raise RuntimeError("no network")

    monkeypatch.setattr(sys.modules["tensorflow_hub"], "resolve", fails)
    server.answers.clear()
    with pytest.raises(ConnectionError, match="elmo_3.tar.gz is not in the cache.*HTTP 404"):
        module_directory(FORMS[0])


@pytest.mark.end_to_end
def test_the_real_tensorflow_hub(saved, tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "tensorflow_hub")
    pytest.importorskip("tensorflow_hub")
    with serving() as server:
        address = server.url("someone/other/2")
        monkeypatch.setattr(handles, "_address", lambda _: address)
        content = packed(saved, tmp_path / "other_2.tar.gz").read_bytes()
        server.answers["someone/other/2?tf-hub-format=compressed"] = content
        directory = module_directory("https://tfhub.dev/someone/other/2")
        assert server.requests == ["someone/other/2?tf-hub-format=compressed"]
    assert graph_of(directory) == b"graph"
    assert directory == str(tmp_path / "tfhub" / hashlib.sha1(address.encode()).hexdigest())
    assert module_directory("https://tfhub.dev/someone/other/2") == directory


def test_modules_beyond_the_registry(server, saved, cache, tmp_path, monkeypatch):
    packed(saved, tmp_path / "other_2.tar.gz")
    tfhub = module_directory("https://tfhub.dev/someone/other/2", mirror=tmp_path)
    assert tfhub == str(cache / "tfhub.dev--someone--other--2" / "module")
    kaggle = module_directory("someone/elmo/TensorFlow2/other/2", mirror=tmp_path)
    assert kaggle == str(cache / "kaggle.com--someone--elmo--tensorflow2--other--2" / "module")
    handle = handle_of("someone/elmo/TensorFlow2/other/2")
    assert handle.file.url == (
        "https://www.kaggle.com/api/v1/models/someone/elmo/tensorFlow2/other/2/download"
    )
    assert handle_of("https://tfhub.dev/someone/other/2").file.url == (
        "https://tfhub.dev/someone/other/2?tf-hub-format=compressed"
    )


def test_nothing_there():
    for place in ("nothing/here", "https://www.kaggle.com/models/google/elmo", "x.tar"):
        with pytest.raises(FileNotFoundError, match="handle as google/elmo/TensorFlow1/elmo/3"):
            module_directory(place)
