import keras
import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.embedding.sources.native import NativeSource

TOKENS = tf.ragged.constant([["free", "entry", "now"], ["ok"], []], dtype=tf.string)


def test_gives_all_layers_and_the_mask_with_boundaries(tiny_bilm):
    layers, mask = NativeSource(tiny_bilm)(TOKENS)
    expected = tiny_bilm.embed_tokens(TOKENS)
    np.testing.assert_array_equal(layers, expected.layers)
    np.testing.assert_array_equal(mask, np.arange(5) < np.array([[5], [3], [2]]))


def test_tells_what_a_mix_needs_to_know(tiny_bilm):
    source = NativeSource(tiny_bilm)
    assert (source.num_layers, source.output_dim, source.tokenizer) == (3, 16, None)
    assert source.fingerprint() == tiny_bilm.fingerprint()
    assert source.trainable_weights == [] and len(source.weights) == len(tiny_bilm.weights)


def test_config_holds_place_and_sha256_and_no_weights(tiny_bilm, tiny_directory):
    config = NativeSource(tiny_bilm, str(tiny_directory)).get_config()
    assert config["place"] == str(tiny_directory)
    assert config["fingerprint"] == tiny_bilm.fingerprint()
    assert config["bilm"]["config"]["config"]["lstm"]["projection_dim"] == 8
    pair = [str(tiny_directory / "options.json"), str(tiny_directory / "weights.hdf5")]
    assert type(NativeSource(tiny_bilm, pair).get_config()["place"]) is list


def test_comes_back_from_its_config_while_the_original_lives(tiny_bilm):
    source = NativeSource(tiny_bilm)
    again = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(source))
    np.testing.assert_array_equal(again(TOKENS)[0], source(TOKENS)[0])
    tiny_bilm.weights[0].assign(tiny_bilm.weights[0] * 2.0)
    assert np.abs(again(TOKENS)[0] - source(TOKENS)[0]).max() > 1e-3


def test_own_variables_hold_the_weights_or_the_sha256(tiny_bilm, tiny_directory):
    whole, bare = {}, {}
    NativeSource(tiny_bilm).save_own_variables(whole)
    NativeSource(tiny_bilm, str(tiny_directory), save_weights=False).save_own_variables(bare)
    assert len(whole.pop("options")) == 32
    for stored, array in zip(whole.values(), tiny_bilm.arrays().values(), strict=True):
        np.testing.assert_array_equal(stored, array)
    assert list(bare) == ["sha256"]
    assert bytes(bare["sha256"]).hex() == tiny_bilm.fingerprint()


def test_weights_of_another_biLM_in_the_file_are_an_error(tiny_bilm):
    with pytest.raises(ValueError, match="a biLM of this model's options.*Received: weights of"):
        NativeSource(tiny_bilm).load_own_variables({"0": np.zeros(3)})


def test_without_weights_in_the_file_a_place_is_needed(tiny_bilm):
    with pytest.raises(ValueError, match="`save_frozen=False` needs a source that can be found"):
        NativeSource(tiny_bilm, save_weights=False)
