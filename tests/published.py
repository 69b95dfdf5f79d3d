"""A registry of tiny models for tests: nothing in it leads beyond this machine."""

from keras_elmo.presets import registry
from keras_elmo.presets.registry import PublishedModel, RemoteFile

FACTS = {
    "kind": "bilm",
    "language": "English",
    "corpus": "a few words",
    "lstm_dim": 12,
    "projection_dim": 8,
    "n_highway": 1,
    "parameters": 3_000_000,
    "files": (),
    "handles": (),
    "licence": "not stated",
    "citation": "Nobody 2018",
    "page": "https://example.com/tiny",
    "verified": True,
    "shipped": False,
    "note": "",
}


def tiny_model(name="tiny", files=(), **facts):
    """A PublishedModel."""
    return PublishedModel(name=name, **{**FACTS, "files": tuple(files), **facts})


def pair(address, **kwargs):
    """The RemoteFiles of options and weights; `address` makes a URL of a name."""
    return (
        RemoteFile("options", "options.json", address("options.json"), **kwargs),
        RemoteFile("weights", "weights.hdf5", address("weights.hdf5"), **kwargs),
    )


def publish(monkeypatch, *models):
    """Makes `models` the registry."""
    monkeypatch.setattr(registry, "_table", lambda: models)
