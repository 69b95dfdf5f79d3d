"""Fixtures of whole-corpus tests: an empty folder, a biLM, small windows."""

import pytest

from keras_elmo.corpora import embed_corpus as embedding
from keras_elmo.corpora import reader
from keras_elmo.corpora.embed_corpus import make_embedder


@pytest.fixture(scope="module")
def bilm(make_tiny_bilm):
    return make_tiny_bilm()


@pytest.fixture(scope="module")
def made():
    return {}


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch, made):
    """Runs in an empty folder; an Embedder is made once, since its graph takes a second."""

    def make(layer, layers, max_tokens, **kwargs):
        key = str((id(layer), layers, kwargs))
        if key not in made:
            made[key] = (*make_embedder(layer, layers, **kwargs), layer)
        embedder, own_most, _ = made[key]
        return embedder, own_most if max_tokens is None else max_tokens

    monkeypatch.setattr(embedding, "make_embedder", make)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def small_windows(monkeypatch):
    monkeypatch.setattr(reader, "LINES_AT_ONCE", 6)
