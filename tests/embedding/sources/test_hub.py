"""The source of TF-Hub modules."""

import shutil

import keras
import numpy as np
import pytest
import tensorflow as tf
from tiny_hub_module import write_module

from keras_elmo.embedding.sources.hub import HubSource
from keras_elmo.embedding.sources.make_source import make_source
from keras_elmo.embedding.sources.native import NativeSource

TOKENS = tf.ragged.constant([["free", "entry", "now"], ["ok"]])


def test_a_directory_is_a_module_if_it_holds_one(tiny_module, tiny_directory):
    assert isinstance(make_source(tiny_module), HubSource)
    assert isinstance(make_source(tiny_directory), NativeSource)
    source = make_source(tiny_module)
    assert make_source(source) is source
    assert (source.num_layers, source.output_dim, source.tokenizer) == (3, 16, "space")


def test_nothing_of_a_module_trains_and_nothing_is_the_layers(tiny_module):
    source = make_source(tiny_module)
    assert source.weights == [] and source.trainable is False
    source.trainable = True
    assert source.trainable_variables == []


def test_a_runner_gives_what_a_call_gives(tiny_module):
    source = make_source(tiny_module)
    run = source.runner(lambda layers, mask: tf.reduce_sum(layers, axis=1), cached_words=10)
    np.testing.assert_allclose(run(TOKENS), tf.reduce_sum(source(TOKENS)[0], axis=1), atol=1e-6)
    assert run(TOKENS.with_row_splits_dtype(tf.int32)).shape == (2, 3, 16)


def test_native_gives_the_same_vectors_as_a_bilm(tiny_module, tiny_bilm):
    source = make_source(tiny_module, native=True)
    assert isinstance(source, NativeSource) and source.bilm.frozen
    np.testing.assert_array_equal(source.bilm.get_weights()[0], tiny_bilm.get_weights()[0])
    tuned = make_source(tiny_module, native=True, fine_tune=True, dtype="mixed_bfloat16")
    assert tuned.bilm.trainable_weights and tuned.bilm.dtype_policy.name == "mixed_bfloat16"
    assert make_source(make_source(tiny_module), native=True).bilm.config == source.bilm.config


def test_a_converted_module_is_saved_with_the_model(tiny_module):
    with pytest.raises(ValueError, match="`save_frozen=False` must not be used with `native=True`"):
        make_source(tiny_module, native=True, save_weights=False)


def test_the_config_finds_the_module_again(tiny_module):
    source = make_source(tiny_module)
    config = keras.saving.serialize_keras_object(source)
    again = keras.saving.deserialize_keras_object(config)
    np.testing.assert_array_equal(again(TOKENS)[0], source(TOKENS)[0])
    assert again.get_config() == source.get_config()


def test_a_module_that_is_gone_or_another_is_told(tiny_module, make_tiny_bilm, tmp_path):
    place = tmp_path / "module"
    shutil.copytree(tiny_module, place)
    config = HubSource(str(place)).get_config()
    shutil.rmtree(place)
    with pytest.raises(FileNotFoundError, match="must be found at .*module'.*model.load_weights"):
        HubSource.from_config(config)
    write_module(make_tiny_bilm(seed=1), place)
    with pytest.raises(ValueError, match="must have sha256 .*Put the original one back"):
        HubSource.from_config(config)
