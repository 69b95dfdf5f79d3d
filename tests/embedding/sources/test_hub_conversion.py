"""Modules converted to biLMs."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf
from tiny_hub_module import write_module

from keras_elmo.embedding.sources import hub_checkpoint
from keras_elmo.embedding.sources import hub_conversion as conversion
from keras_elmo.embedding.sources.hub_conversion import convert
from keras_elmo.embedding.sources.hub_module import HubModule

TOKENS = tf.ragged.constant([["I", "agree", "x" * 70], ["no"]])


def test_a_converted_module_gives_its_vectors(tiny_module, tiny_bilm):
    found = convert(HubModule(tiny_module))
    assert found.difference < 1e-5 and found.guessed == ()
    assert found.bilm.frozen and found.bilm.tokenizer == "space"
    for key, array in tiny_bilm.arrays().items():
        np.testing.assert_array_equal(found.bilm.arrays()[key], array)


@pytest.mark.parametrize(
    "changes",
    [
        {"activation": "tanh"},
        {"use_skip_connections": False},
        {"cell_clip": None, "proj_clip": None},
        {"n_highway": 0},
        {"activation": "tanh", "use_skip_connections": False, "n_highway": 2},
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


@pytest.mark.parametrize(
    ("spell", "first"),
    [
        (lambda key: key.replace("RNN_0", "a").replace("RNN_1", "b"), "a/RNN"),
        (lambda key: key.replace("RNN_0/RNN/M", "M").replace("RNN_1/RNN/M", "N"), "MultiRNN"),
        (lambda key: _by_layer(key), "Cell0"),
    ],
)
def test_unknown_names_are_proved_by_vectors(spell, first, tiny_bilm, tmp_path):
    found = convert(HubModule(write_module(tiny_bilm, tmp_path / "module", spell=spell)))
    assert len(found.guessed) == 12
    assert found.variables["RNN_0/RNN/MultiRNNCell/Cell0/LSTMCell/W_0"].startswith(first)
    np.testing.assert_array_equal(found.bilm.get_weights()[-1], tiny_bilm.get_weights()[-1])


def _by_layer(key):
    """As a module that makes both directions of a layer before the next one might name them."""
    if "RNN" not in key:
        return key
    direction, _, _, cell, _, name = key.split("/")
    return f"{cell}/{direction}x/{name}"


def test_vectors_that_differ_are_an_error(tiny_module, monkeypatch):
    def disturbed(directory, reading):
        arrays = hub_checkpoint.read_arrays(directory, reading)
        return {**arrays, "CNN_proj/b_proj": arrays["CNN_proj/b_proj"] + 0.01}

    monkeypatch.setattr(conversion, "read_arrays", disturbed)
    with pytest.raises(ValueError, match=r"must give the module's own vectors.*differ by \d"):
        convert(HubModule(tiny_module))


@pytest.mark.parametrize("name", ["tiny", "allennlp_fixture"])
def test_shared_modules_convert(name, shared):
    module = HubModule(shared / "fixtures" / "tf1_hub" / name)
    found = convert(module)
    assert found.guessed == () and found.difference < 1e-6
    layers, mask = module(TOKENS)
    expected = found.bilm.embed_tokens(TOKENS).layers[:, :, 1:-1]
    mask = mask.numpy()[:, np.newaxis, :, np.newaxis]
    np.testing.assert_allclose(np.where(mask, expected, 0.0), layers, atol=1e-6)
