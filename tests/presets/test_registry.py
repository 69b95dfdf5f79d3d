"""The table of published models."""

import re

import pytest
from published import publish, tiny_model

from keras_elmo.bilm.bilm import BiLM
from keras_elmo.presets.registry import (
    KINDS,
    PRESETS,
    PublishedModel,
    find_model,
    get_model,
    published_models,
    unknown,
)

MODELS = published_models()


def test_names_are_unique_and_folders_are(tmp_path):
    names = [model.name for model in MODELS]
    assert len(set(names)) == len(names)
    folders = {name.replace("/", "--").lower() for name in names}
    assert len(folders) == len(names)
    assert all(re.fullmatch(r"[\w./-]+", name) for name in names)


def test_the_models_that_must_have_a_name():
    expected = {
        *("english-small", "small", "medium", "original", "original_5.5B", "pubmed"),
        *("portuguese", "portuguese_brwac", "german", "basque", "japanese"),
        *("nlpl-210", "nlpl-211", "nlpl-217", "nlpl-218", "google/elmo/2", "google/elmo/3"),
    }
    assert expected <= {model.name for model in MODELS}


def test_every_field_is_of_its_kind():
    for model in MODELS:
        assert isinstance(model, PublishedModel)
        assert model.kind in KINDS
        for text in (model.language, model.corpus, model.citation, model.page):
            assert text and text == text.strip()
        for number in (model.lstm_dim, model.projection_dim, model.n_highway, model.parameters):
            assert number is None or (type(number) is int and number >= 0)
        assert model.licence == "not stated" or model.licence.startswith("as stated: ")
        assert isinstance(model.note, str)
        assert model.page.startswith("https://") or model.shipped
        assert bool(model.handles) == (model.kind == "tf_hub")
        assert model.verified or not model.files
        assert not (model.shipped and model.files)
        assert model.files or model.shipped or not model.verified or model.note


def test_files():
    for model in MODELS:
        roles = [file.role for file in model.files]
        assert roles in ([], ["archive"], ["options", "weights"])
        assert len({file.name for file in model.files}) == len(model.files)
        for file in model.files:
            assert re.fullmatch(r"\w[\w.-]+", file.name)
            assert file.sha256 is None or re.fullmatch("[0-9a-f]{64}", file.sha256)
            for url in (file.url, *file.mirrors):
                assert re.fullmatch(r"https://[a-z][\w.-]+/[\w./?=-]+", url)


def test_every_address_belongs_to_one_file():
    urls = [url for model in MODELS for file in model.files for url in (file.url, *file.mirrors)]
    assert len(set(urls)) == len(urls)


def test_allennlp_addresses():
    base = "https://s3-us-west-2.amazonaws.com/allennlp/models/elmo/"
    key = "2x4096_512_2048cnn_2xhighway"
    options, weights = get_model("original").files
    assert options.url == f"{base}{key}/elmo_{key}_options.json"
    assert weights.url == f"{base}{key}/elmo_{key}_weights.hdf5"
    assert weights.mirrors == (
        weights.url.replace(base, "https://allennlp.s3.amazonaws.com/models/elmo/"),
    )


def test_shipped_models_are_there_with_the_sizes_told():
    shipped = [model for model in MODELS if model.shipped]
    assert tuple(model.name for model in shipped) == PRESETS
    for model in shipped:
        bilm = BiLM.load(model.name)
        assert bilm.count_params() == model.parameters
        assert bilm.config.lstm_dim == model.lstm_dim
        assert bilm.config.projection_dim == model.projection_dim
        assert bilm.config.n_highway == model.n_highway


def test_lookup(monkeypatch):
    model = tiny_model("one")
    publish(monkeypatch, model, tiny_model("two"))
    assert find_model("one") is model
    assert get_model("one") is model
    assert find_model("three") is None
    with pytest.raises(
        ValueError, match=r"'twoo'. Did you mean 'two'\? `keras_elmo presets` lists"
    ):
        get_model("twoo")
    with pytest.raises(ValueError, match=r"'xyz'. `keras_elmo presets` lists"):
        get_model("xyz")


def test_ids_of_another_layout_are_refused_with_the_reason():
    for number in (136, 179):
        with pytest.raises(ValueError, match="ELMoForManyLangs.*pickled PyTorch.*nlpl-210"):
            get_model(f"nlpl-{number}")
    for number in (135, 180):
        assert "ELMoForManyLangs" not in unknown(f"nlpl-{number}")
