"""A tiny language model in files, for the commands that use one."""

import dataclasses

import pytest
from tiny_language_model import seeded_model

from keras_elmo.language_model.files import save_language_model


@pytest.fixture(scope="session")
def model_directory(make_tiny_bilm, tiny_config, tmp_path_factory):
    """Directory of a seeded model that splits texts into `words`."""
    directory = tmp_path_factory.mktemp("language-model") / "model"
    bilm = make_tiny_bilm(dataclasses.replace(tiny_config, tokenizer="words"))
    save_language_model(seeded_model(bilm), directory)
    return str(directory)
