"""TF-Hub modules: what names one, and where it is found."""

import hashlib
import os
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest
from loopback import together
from published import publish, tiny_model

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
    *(
        "small",
        "english-small",
        "google/elmo",
        "google/elmo/7",
        "a/b/c/d/5",
        "",
        ".",
        "no/such/path",
    ),
    *("https://example.com/google/elmo/3", "ftp://tfhub.dev/google/elmo/3", "https://[", 7, None),
    *(
        ("options.json", "weights.hdf5"),
        "google/elmo/TensorFlow1/elmo/x",
        "../../a/TensorFlow1/b/3",
    ),
]


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


@pytest.mark.parametrize("place", FORMS)
def test_forms_of_a_module(place):
    assert locate(place).is_module


@pytest.mark.parametrize("place", OTHERS, ids=str)
def test_other_places_are_no_modules(place):
    assert not locate(place).is_module


def test_a_directory_is_used_where_it_is(saved, cache):
    assert locate(saved).is_module and locate(str(saved)).is_module
    assert module_directory(saved) == str(saved)
    assert not locate(saved / "variables").is_module
    assert not cache.exists()
    with pytest.raises(FileNotFoundError, match=r"saved_model.pb at its top"):
        module_directory(saved / "variables")


@pytest.mark.parametrize("name", [".", "elmo"])
@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_an_archive_is_unpacked_once(name, mode, saved, cache, tmp_path, monkeypatch):
    path = packed(saved, tmp_path / "elmo.tar.gz", name, mode)
    assert locate(path).is_module
    directory = module_directory(path)
    assert graph_of(directory) == b"graph"
    assert directory.startswith(str(cache / "modules"))
    monkeypatch.setattr(modules, "unpack", None)
    copy = shutil.copy(path, tmp_path / "another name")
    assert module_directory(copy) == directory


def test_a_zip_archive_too(saved, tmp_path):
    path = tmp_path / "elmo.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in ("saved_model.pb", "variables/variables.index"):
            archive.write(saved / file, f"elmo/{file}")
    assert locate(path).is_module
    assert graph_of(module_directory(path)) == b"graph"


def test_files_that_are_no_modules(tiny_directory, tmp_path, cache):
    bilm = packed(tiny_directory, tmp_path / "bilm.tar.gz")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "saved_model.pb").write_bytes(b"graph")
    deep = packed(tmp_path / "deep", tmp_path / "deep.tar", "a/b/c")
    (tmp_path / "text").write_text("text")
    for path in (bilm, deep, tmp_path / "text"):
        assert not locate(path).is_module
    with pytest.raises(FileNotFoundError, match=r"bilm.tar.gz must hold a TF-Hub module"):
        module_directory(bilm)
    assert not cache.exists()
    with pytest.raises(ValueError, match="readable archive"):
        module_directory(tmp_path / "text")


def test_an_unpacked_module_with_a_file_deleted_is_unpacked_again(saved, tmp_path):
    path = packed(saved, tmp_path / "elmo.tar.gz")
    directory = module_directory(path)
    os.remove(os.path.join(directory, "saved_model.pb"))
    assert module_directory(path) == directory
    assert graph_of(directory) == b"graph"


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
    (cache / "google--elmo--3" / "module.files.json").write_text("{")
    assert module_directory("google/elmo/3") == str(directory)


def test_a_bilm_by_name_is_told_to_be_one(published, monkeypatch):
    publish(monkeypatch, published, tiny_model("small"))
    with pytest.raises(ValueError, match="Received: 'small', which is a biLM already"):
        module_directory("small")


def test_from_a_mirror(published, server, tmp_path):
    server.answers.clear()
    directory = module_directory(FORMS[1], mirror=tmp_path)
    assert graph_of(directory) == b"graph"
    assert server.requests == []


def test_offline_is_one_error(published, server):
    server.answers.clear()
    with pytest.raises(ConnectionError, match="elmo_3.tar.gz is not in the cache.*HTTP 404"):
        module_directory("google/elmo/TensorFlow1/elmo/3")


def test_two_at_once(published, server, cache):
    import concurrent.futures

    path = "google/elmo/3?tf-hub-format=compressed"
    server.answers[path] = together(2, server.answers[path])
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = list(pool.map(module_directory, FORMS[:2]))
    assert found == [str(cache / "google--elmo--3" / "module")] * 2
    assert graph_of(found[0]) == b"graph"
    assert sorted(os.listdir(cache / "google--elmo--3")) == [
        *("elmo_3.tar.gz", "elmo_3.tar.gz.sha256", "module", "module.files.json"),
    ]


@pytest.mark.parametrize("step", ["holds_module", "unpack", "_note_files", "_discard"])
@pytest.mark.parametrize("damaged", [False, True])
def test_another_process_that_was_faster_keeps_its_module(
    step, damaged, published, server, cache, monkeypatch
):
    """The other one does its whole work just before `step` of this one."""
    directory = cache / "google--elmo--3" / "module"
    if damaged:
        (Path(module_directory(FORMS[0])) / "saved_model.pb").unlink()
    ours, others = getattr(modules, step), []

    def after_another(*args, **options):
        monkeypatch.setattr(modules, step, ours)
        others.append(module_directory(FORMS[1]))
        return ours(*args, **options)

    monkeypatch.setattr(modules, step, after_another)
    assert module_directory(FORMS[0]) == str(directory)
    assert others == [str(directory)]
    assert graph_of(str(directory)) == b"graph"
    assert sorted(os.listdir(cache / "google--elmo--3")) == [
        *("elmo_3.tar.gz", "elmo_3.tar.gz.sha256", "module", "module.files.json"),
    ]
    monkeypatch.setattr(modules, "unpack", None)
    assert module_directory(FORMS[0]) == str(directory)


@pytest.mark.parametrize("name", ["mkdir", "open"])
def test_a_full_disk_is_told_with_the_name_that_stays(name, published, server, cache, monkeypatch):
    module = str(cache / "google--elmo--3" / "module")
    ours = {"mkdir": os.mkdir, "open": open}[name]

    def full(path, *args, **options):
        if ".module." in os.fspath(path):
            raise OSError(28, "No space left on device", path)
        return ours(path, *args, **options)

    monkeypatch.setattr("os.mkdir" if name == "mkdir" else "builtins.open", full)
    with pytest.raises(OSError, match="could not be written .No space left on device") as error:
        module_directory(FORMS[0])
    assert str(error.value).startswith(f"{module} could") and ".part" not in str(error.value)
    assert sorted(os.listdir(cache / "google--elmo--3")) == [
        "elmo_3.tar.gz",
        "elmo_3.tar.gz.sha256",
    ]


@pytest.mark.parametrize("address", [form for form in FORMS if "://" in form and form[-1] == "3"])
def test_the_cache_of_tensorflow_hub_is_used(address, published, server, saved, tmp_path):
    digest = hashlib.sha1(address.encode()).hexdigest()
    shutil.copytree(saved, tmp_path / "tfhub" / digest)
    for form in FORMS:
        assert module_directory(form) == str(tmp_path / "tfhub" / digest)
    assert server.requests == []


def test_the_default_cache_of_tensorflow_hub(published, server, saved, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    digest = hashlib.sha1(b"https://tfhub.dev/google/elmo/3").hexdigest()
    shutil.copytree(saved, tmp_path / "tfhub_modules" / digest)
    expected = str(tmp_path / "tfhub_modules" / digest)
    assert cached_module("google/elmo/3") == expected
    monkeypatch.setattr(os, "getuid", lambda: 12345)  # somebody else's
    assert cached_module("google/elmo/3") is None


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


@pytest.mark.parametrize(
    "place", ["nothing/here", "https://www.kaggle.com/models/google/elmo", "x.tar"]
)
def test_nothing_there(place):
    with pytest.raises(FileNotFoundError, match=r"Kaggle handle as google/elmo/TensorFlow1/elmo/3"):
        module_directory(place)
