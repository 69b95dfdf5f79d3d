"""A cache of its own for each test, and a server on this machine."""

import sys

import pytest
from loopback import serving


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """The folder of downloaded models; no other cache is looked into, no tensorflow_hub is here."""
    monkeypatch.setenv("KERAS_ELMO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TFHUB_CACHE_DIR", str(tmp_path / "tfhub"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setitem(sys.modules, "tensorflow_hub", None)
    return tmp_path / "cache"


@pytest.fixture
def server():
    with serving() as loopback:
        yield loopback


@pytest.fixture
def contents(tiny_directory):
    """Name to bytes of the files of a tiny biLM."""
    return {path.name: path.read_bytes() for path in tiny_directory.iterdir()}


@pytest.fixture
def served(server, contents):
    """The server, which gives the files of a tiny biLM."""
    server.answers.update(contents)
    return server
