"""Modules converted to biLMs."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf
from tiny_hub_module import write_module

from keras_elmo.embedding.sources import hub_conversion as conversion
from keras_elmo.embedding.sources.hub_conversion import convert
from keras_elmo.embedding.sources.hub_module import HubModule

TOKENS = tf.ragged.constant([["I", "agree", "x" * 70], ["no"]])


def test_a_converted_module_gives_its_vectors(tiny_module, tiny_bilm):
    found = convert(HubModule(tiny_module))
    assert found.difference < 1e-5
    assert found.bilm.frozen and found.bilm.tokenizer == "space"
    for key, array in tiny_bilm.arrays().items():
        np.testing.assert_array_equal(found.bilm.arrays()[key], array)


@pytest.mark.parametrize(
    "changes",
    [
        {"activation": "tanh", "use_skip_connections": False, "n_highway": 2},
        {"cell_clip": None, "proj_clip": None, "n_highway": 0},
    ],
)
def test_what_no_variable_tells_is_found_by_vectors(changes, make_tiny_bilm, tiny_config, tmp_path):
    config = dataclasses.replace(tiny_config, **changes)
    bilm = make_tiny_bilm(config)
    if config.cell_clip is None:  # Values that a clip would change.
        arrays = bilm.arrays()
        bilm.set_arrays({k: 4 * a if k.endswith("W_P_0") else a for k, a in arrays.items()})
    found = convert(HubModule(write_module(bilm, tmp_path / "module")))
    assert found.bilm.config == dataclasses.replace(config, tokenizer="space")


def test_unknown_names_are_an_error(tiny_bilm, tmp_path):
    module = write_module(tiny_bilm, tmp_path / "module", spell=lambda key: key.replace("RNN", "x"))
    with pytest.raises(ValueError, match="by the names of google/elmo/3.*without `native=True`"):
        convert(HubModule(module))


def test_vectors_that_differ_are_an_error(tiny_module, monkeypatch):
    read = conversion.read_tensors

    def disturbed(*args):
        arrays = read(*args)
        return {**arrays, "CNN_proj/b_proj": arrays["CNN_proj/b_proj"] + 0.01}

    monkeypatch.setattr(conversion, "read_tensors", disturbed)
    with pytest.raises(ValueError, match=r"must give the module's own vectors.*differ by \d"):
        convert(HubModule(tiny_module))


@pytest.mark.parametrize("name", ["tiny", "allennlp_fixture"])
def test_shared_modules_convert(name, shared):
    assert convert(HubModule(shared / "fixtures" / "tf1_hub" / name)).difference < 1e-6
