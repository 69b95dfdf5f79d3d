"""Fixtures of all tests: tiny seeded biLMs and the place of shared test data."""

import os
from pathlib import Path

import numpy as np
import pytest
from tiny_hub_module import write_module
from tiny_language_model import seeded_model

from keras_elmo.bilm.bilm import BiLM
from keras_elmo.bilm.config import BiLMConfig

TINY = BiLMConfig(
    lstm_dim=12, projection_dim=8, char_dim=4, filters=((1, 4), (2, 6), (3, 8)), n_highway=1
)


def make_tiny(config=TINY, seed=0, **kwargs):
    """A biLM with seeded random weights of a size that keeps gates and clips alive."""
    bilm = BiLM(config, **kwargs)
    rng = np.random.default_rng(seed)
    bilm.set_arrays(
        {
            key: rng.normal(0.0, 0.4, array.shape).astype(np.float32)
            for key, array in bilm.arrays().items()
        }
    )
    return bilm


@pytest.fixture(scope="session")
def tiny_config():
    """L = 2, token vector 8, output 16, 50 character ids a token."""
    return TINY


@pytest.fixture
def tiny_bilm():
    """A frozen biLM of `tiny_config` with seeded weights."""
    return make_tiny()


@pytest.fixture(scope="session")
def tiny_directory(tmp_path_factory):
    """`tiny_bilm` saved as a preset directory."""
    directory = tmp_path_factory.mktemp("tiny") / "bilm"
    make_tiny().save(directory)
    return directory


@pytest.fixture(scope="session")
def tiny_module(tmp_path_factory):
    """Directory of `tiny_bilm` as a module in the TF1-Hub format, whose variables train."""
    return write_module(make_tiny(), tmp_path_factory.mktemp("hub") / "module")


@pytest.fixture(scope="session")
def make_tiny_bilm():
    """The function `make_tiny(config, seed, **kwargs)`, for other shapes."""
    return make_tiny


@pytest.fixture(scope="session")
def make_model(make_tiny_bilm):
    """Makes language models over nine words, of seeded weights that train."""

    def make(softmax="full", seed=0, **kwargs):
        bilm = make_tiny_bilm(seed=seed, **{"frozen": False, **kwargs})
        return seeded_model(bilm, softmax, seed=seed)

    return make


@pytest.fixture(scope="session")
def shared():
    """The folder of shared test data; tests that need it are skipped where it is absent."""
    place = Path(os.environ.get("KERAS_ELMO_SHARED") or Path(__file__).parents[2] / "shared")
    if not place.is_dir():
        pytest.skip(f"shared test data not found at {place}; set KERAS_ELMO_SHARED")
    return place
