"""Downloads: faults of servers, of disks and of what was published; no network is used."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tqdm as tqdm_package
from loopback import cut, hanging, in_turn, together
from published import pair, publish, tiny_model

from keras_elmo.bilm.bilm import BiLM
from keras_elmo.presets import download
from keras_elmo.presets.download import cached_files, fetch, fetch_file
from keras_elmo.presets.registry import RemoteFile

NAMES = ["options.json", "options.json.sha256", "weights.hdf5", "weights.hdf5.sha256"]
PACKAGE = Path(download.__file__).parents[1]


def names_in(folder):
    return sorted(os.listdir(folder))


@pytest.fixture
def tiny(served, monkeypatch):
    """A published model whose files the server gives."""
    model = tiny_model(files=pair(served.url))
    publish(monkeypatch, model)
    return model


def weights_at(*urls, sha256=None):
    """The RemoteFile of a weights file at these addresses."""
    return RemoteFile("weights", "weights.hdf5", urls[0], urls[1:], sha256)


def assert_is_whole(cache, contents):
    for name, content in contents.items():
        assert (cache / "tiny" / name).read_bytes() == content


def test_downloaded_once_and_then_without_a_request(tiny, served, cache, contents, capsys):
    assert cached_files(tiny) is None
    paths = fetch("tiny")
    assert served.requests == ["options.json", "weights.hdf5"]
    assert paths == cached_files(tiny)
    assert paths == {
        "options": str(cache / "tiny" / "options.json"),
        "weights": str(cache / "tiny" / "weights.hdf5"),
    }
    assert_is_whole(cache, contents)
    assert names_in(cache / "tiny") == NAMES
    digest = hashlib.sha256(contents["weights.hdf5"]).hexdigest()
    assert (cache / "tiny" / "weights.hdf5.sha256").read_text() == f"{digest}  weights.hdf5\n"
    assert fetch("tiny") == paths
    assert len(served.requests) == 2
    assert capsys.readouterr() == ("", "")  # no bar where no terminal is


def test_loaded_by_name_then_offline(tiny, served, tiny_bilm):
    assert BiLM.load("tiny").fingerprint() == tiny_bilm.fingerprint()
    served.answers.clear()
    assert BiLM.load("tiny").fingerprint() == tiny_bilm.fingerprint()
    assert len(served.requests) == 2


def test_cached_files_are_used_where_nothing_can_be_written(tiny, cache, monkeypatch):
    fetch("tiny")
    before = {name: os.stat(cache / "tiny" / name).st_mtime_ns for name in NAMES}
    folder = os.stat(cache / "tiny").st_mtime_ns

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    for name in ("makedirs", "mkdir", "replace", "rename", "remove"):
        monkeypatch.setattr(os, name, refuse)
    fetch("tiny")
    assert {name: os.stat(cache / "tiny" / name).st_mtime_ns for name in NAMES} == before
    assert os.stat(cache / "tiny").st_mtime_ns == folder


FAULTS = {
    "cut": (lambda served, content: cut(content), r"broke off|cut off after"),
    "not found": (lambda served, content: None, "HTTP 404 Not Found"),
    "slow": (hanging, "no data for 0.2 s"),
    "a page": (lambda served, content: b"<!DOCTYPE html>", "no whole HDF5 file, but b'<!DOCTYPE"),
    "part": (lambda served, content: content[:3000], "no whole HDF5 file, but b'.x89HDF"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_an_error_that_tells_what_to_do_and_leaves_nothing(
    fault, tiny, served, cache, contents, monkeypatch
):
    monkeypatch.setattr(download, "READ_SECONDS", 0.2)
    make, reason = FAULTS[fault]
    served.answers["weights.hdf5"] = make(served, contents["weights.hdf5"])
    with pytest.raises(ConnectionError, match=reason) as caught:
        fetch("tiny")
    text = str(caught.value)
    assert served.url("weights.hdf5") in text
    assert f"put it there as {cache / 'tiny' / 'weights.hdf5'}" in text
    assert "KERAS_ELMO_CACHE" in text and "--mirror DIR" in text and "(options, weights)" in text
    assert names_in(cache / "tiny") == ["options.json", "options.json.sha256"]
    served.answers["weights.hdf5"] = contents["weights.hdf5"]
    fetch("tiny")
    assert_is_whole(cache, contents)


def test_the_next_address_is_tried(served, cache, contents):
    served.answers["bad"] = cut(contents["weights.hdf5"])
    file = weights_at(served.url("bad"), served.url("weights.hdf5"))
    path = fetch_file(file, str(cache))
    assert path == str(cache / "weights.hdf5")
    assert Path(path).read_bytes() == contents["weights.hdf5"]
    assert served.requests == ["bad", "weights.hdf5"]


def test_offline_names_every_address_and_every_file(cache, monkeypatch):
    closed = "http://127.0.0.1:9/{}".format
    mirrored = [RemoteFile(f.role, f.name, f.url, (closed("copy"),)) for f in pair(closed)]
    publish(monkeypatch, tiny_model(files=mirrored))
    with pytest.raises(ConnectionError) as caught:
        fetch("tiny")
    text = str(caught.value)
    for url in (closed("options.json"), closed("copy")):
        assert f"{url} (no connection)" in text
    assert f"tiny lacks in {cache / 'tiny'}: options.json, weights.hdf5." in text
    assert names_in(cache / "tiny") == []


@pytest.mark.parametrize("form", ["directory", "file", "http"])
def test_mirror_comes_first(form, server, contents, cache, tmp_path, monkeypatch):
    publish(monkeypatch, tiny_model(files=pair("http://127.0.0.1:9/{}".format)))
    folder = tmp_path / "my mirror"
    folder.mkdir()
    for name, content in contents.items():
        (folder / name).write_bytes(content)
        server.answers[f"mirror/{name}"] = content
    mirror = {"directory": folder, "file": folder.as_uri(), "http": server.url("mirror/")}[form]
    fetch("tiny", mirror=mirror)
    assert_is_whole(cache, contents)


def test_what_a_mirror_lacks_comes_from_the_address(tiny, served, cache, contents, tmp_path):
    (tmp_path / "options.json").write_bytes(contents["options.json"])
    fetch("tiny", mirror=str(tmp_path))
    assert served.requests == ["weights.hdf5"]
    assert_is_whole(cache, contents)
    (cache / "tiny" / "weights.hdf5").unlink()
    served.answers.clear()
    with pytest.raises(ConnectionError) as caught:
        fetch("tiny", mirror=tmp_path)
    assert f"{tmp_path / 'weights.hdf5'} (No such file or directory)" in str(caught.value)


@pytest.fixture
def other(contents, make_tiny_bilm, tmp_path):
    """Bytes of another whole weights file."""
    make_tiny_bilm(seed=1).save(tmp_path / "other")
    return (tmp_path / "other" / "weights.hdf5").read_bytes()


def test_another_file_than_the_first_is_tried_twice_and_not_kept(
    tiny, served, cache, contents, other
):
    fetch("tiny")
    (cache / "tiny" / "weights.hdf5").unlink()
    served.answers["weights.hdf5"] = other
    with pytest.raises(ValueError, match="Received twice") as caught:
        fetch("tiny")
    for content in (contents["weights.hdf5"], other):
        assert hashlib.sha256(content).hexdigest() in str(caught.value)
    assert served.requests.count("weights.hdf5") == 3
    assert names_in(cache / "tiny") == [name for name in NAMES if name != "weights.hdf5"]
    (cache / "tiny" / "weights.hdf5.sha256").unlink()
    assert Path(fetch("tiny")["weights"]).read_bytes() == other


def test_a_pinned_sum_that_fits_the_second_time_or_never(served, cache, contents):
    content = contents["weights.hdf5"]
    served.answers["weights.hdf5"] = in_turn(b"wrong bytes", content)
    pinned = hashlib.sha256(content).hexdigest()
    path = fetch_file(weights_at(served.url("weights.hdf5"), sha256=pinned), str(cache))
    assert Path(path).read_bytes() == content
    assert served.requests == ["weights.hdf5"] * 2
    served.answers["weights.hdf5"] = content
    with pytest.raises(ValueError, match=f"must give a file with the sha256 {'0' * 64}"):
        fetch_file(weights_at(served.url("weights.hdf5"), sha256="0" * 64), str(cache / "other"))
    assert names_in(cache / "other") == []


def test_a_server_that_tells_no_length(tiny, served, cache, contents):
    def without_length(handler):
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(contents["weights.hdf5"])

    served.answers["weights.hdf5"] = without_length
    fetch("tiny")
    assert_is_whole(cache, contents)


PROGRAM = """
import sys, types
package = types.ModuleType("keras_elmo")
package.__path__ = [sys.argv[1]]
sys.modules["keras_elmo"] = package
from keras_elmo.presets import download, registry
print(download.fetch_file(registry.RemoteFile("weights", *sys.argv[2:4]), sys.argv[4]))
sys.exit(bool({"tensorflow", "keras"} & set(sys.modules)))
"""


@pytest.mark.end_to_end
def test_two_processes_at_once_without_tensorflow(server, cache, contents):
    content = contents["weights.hdf5"]
    server.answers["weights.hdf5"] = together(2, content)
    path = cache / "tiny" / "weights.hdf5"
    url = server.url("weights.hdf5")
    command = [sys.executable, "-c", PROGRAM, PACKAGE, path.name, url, path.parent]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    runs = [subprocess.Popen(command, **pipes) for _ in range(2)]
    outputs = [run.communicate(timeout=60) for run in runs]
    assert outputs == [(f"{path}\n", "")] * 2
    assert [run.returncode for run in runs] == [0, 0]
    assert path.read_bytes() == content
    assert names_in(path.parent) == NAMES[2:]


def test_a_cache_that_cannot_be_made(tiny, cache):
    cache.write_text("a file")
    with pytest.raises(OSError, match="could not be written.*set KERAS_ELMO_CACHE") as caught:
        fetch("tiny")
    assert str(cache / "tiny") in str(caught.value)


def test_disk_that_is_full_during_the_transfer(tiny, cache, monkeypatch):
    class Full:
        def __init__(self, **_):
            pass

        def __call__(self, url, path, _):
            Path(path).write_bytes(b"half")
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("pooch.HTTPDownloader", Full)
    with pytest.raises(OSError, match=r"options.json could not be written \(No space left"):
        fetch("tiny")
    assert names_in(cache / "tiny") == []


class Terminal:
    """A stderr that looks like a terminal."""

    encoding = "utf-8"

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass

    def isatty(self):
        return True


@pytest.mark.parametrize("shown", [True, False])
def test_bar_on_a_terminal(shown, tiny, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    fetch("tiny", progress=shown)
    assert ("weights.hdf5: 100%" in terminal.text) == bool(terminal.text) == shown
    assert not tqdm_package.tqdm._instances


def test_models_without_files(monkeypatch):
    publish(
        monkeypatch,
        tiny_model("dark", verified=False),
        tiny_model("parts", note="in two parts"),
        tiny_model("here", shipped=True),
    )
    with pytest.raises(ValueError, match="address of its files is not verified.*example.com/tiny"):
        fetch("dark")
    with pytest.raises(ValueError, match=r"\(in two parts\).*the pair \(options, weights\)"):
        fetch("parts")
    with pytest.raises(ValueError, match="here is in this package"):
        fetch("here")
    with pytest.raises(ValueError, match="Received: 'drak'. Did you mean 'dark'?"):
        fetch("drak")


def test_options_must_be_an_object(served, cache):
    for content in (b"[1]", b"{" + b" " * (1 << 20) + b"}", b'{"a":' * 100_000):
        served.answers["options.json"] = content
        with pytest.raises(ConnectionError, match="no JSON object of options"):
            fetch_file(RemoteFile("options", "options.json", served.url("options.json")), cache)
