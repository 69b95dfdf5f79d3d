"""ELMoEmbedding in files and configs: self-contained, or with a sha256 in place of the biLM."""

import dataclasses
import gc
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_elmo
from keras_elmo.embedding.elmo_embedding import ELMoEmbedding
from keras_elmo.layers.scalar_mix import ScalarMix

TEXTS = tf.constant(["free entry now", "ok", ""])
IN_A_NEW_PROCESS = """
import json, sys
import keras
import keras_elmo
from keras_elmo.layers.scalar_mix import ScalarMix
import numpy as np

model = keras.models.load_model(sys.argv[1])
texts = np.array(json.loads(sys.argv[2]), dtype=object)
layer = model.layers[0]
found = {
    "predictions": model.predict(texts, verbose=0).tolist(),
    "layer_weights": layer.layer_weights.tolist(),
    "gamma": layer.gamma,
}
print(json.dumps(found))
"""


@pytest.fixture
def place(make_tiny_bilm, tmp_path):
    """A directory with a biLM that a test may delete."""
    directory = tmp_path / "bilm"
    make_tiny_bilm().save(directory)
    return str(directory)


def make_model(source, **arguments):
    """A model whose mix is no longer at its start."""
    layers = [keras.Input((), dtype="string"), ELMoEmbedding(source, **arguments)]
    model = keras.Sequential([*layers, keras.layers.Dense(1)])
    model.layers[0].mixes[0].scalars.assign([0.0, 1.0, -1.0])
    model.layers[0].mixes[0].gamma.assign(1.5)
    return model


def test_u13_u27_a_trained_model_answers_alike_in_a_new_process(place, tmp_path):
    layer = ELMoEmbedding(place)
    model = keras.Sequential([keras.Input((), dtype="string"), layer, keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.1), "mse", run_eagerly=True)
    model.fit(TEXTS, np.ones((3, 1)), verbose=0)
    path = str(tmp_path / "m.keras")
    model.save(path)
    shutil.rmtree(place)
    texts = [text.decode() for text in TEXTS.numpy()]
    result = subprocess.run(
        [sys.executable, "-c", IN_A_NEW_PROCESS, path, json.dumps(texts)],
        env={**os.environ, "PYTHONPATH": str(Path(keras_elmo.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout.splitlines()[-1])
    np.testing.assert_allclose(found["predictions"], model(TEXTS), atol=1e-6)
    np.testing.assert_allclose(found["layer_weights"], layer.layer_weights, atol=1e-7)
    assert np.ptp(layer.layer_weights) > 0.0 and found["gamma"] == layer.gamma != 1.0


def test_u27_config_round_trip_keeps_every_argument(tiny_directory):
    of_mix = {
        "initial_scalars": [0.5, 0.0, -0.5],
        "initial_gamma": 0.7,
        "layer_norm": True,
        "l2": 0.01,
    }
    arguments = {
        "output": ["elmo", "top"],
        "tokenizer": "words",
        "inputs": "text",
        "num_mixes": 2,
        "dropout": 0.2,
        "keep_boundaries": True,
        "max_tokens": 7,
        "fine_tune": False,
        "save_frozen": False,
        "trainable": False,
        "name": "elmo",
    }
    layer = ELMoEmbedding(str(tiny_directory), mix=ScalarMix(**of_mix), **arguments)
    config = json.loads(json.dumps(layer.get_config()))
    assert {name: config[name] for name in arguments} == arguments
    assert {name: config["mix"]["config"][name] for name in of_mix} == of_mix
    attributes = {name: getattr(layer, name) for name in arguments if name != "output"}
    assert attributes == {name: arguments[name] for name in attributes}
    again = ELMoEmbedding.from_config(config)
    assert json.loads(json.dumps(again.get_config())) == config
    for first, second in zip(layer(TEXTS)["elmo"], again(TEXTS)["elmo"], strict=True):
        np.testing.assert_array_equal(first, second)


def test_a_config_written_by_hand_may_name_a_place(tiny_directory):
    layer = ELMoEmbedding.from_config({"source": str(tiny_directory), "max_tokens": np.int64(3)})
    np.testing.assert_array_equal(layer(TEXTS), ELMoEmbedding(str(tiny_directory))(TEXTS))
    assert json.loads(json.dumps(layer.get_config()))["max_tokens"] == 3


def test_u27_clone_model_gives_a_usable_model(tiny_bilm):
    model = make_model(tiny_bilm)
    clone = keras.models.clone_model(model)
    start = keras.models.Sequential([ELMoEmbedding(tiny_bilm)])
    np.testing.assert_array_equal(clone.layers[0](TEXTS), start(TEXTS))
    assert clone.layers[0].source.bilm is not tiny_bilm
    clone.set_weights(model.get_weights())
    np.testing.assert_array_equal(clone(TEXTS), model(TEXTS))


@pytest.mark.parametrize(
    "arguments", [{}, {"fine_tune": True}, {"num_mixes": 2, "output": ["default"]}]
)
def test_a_model_comes_back_from_its_file(tiny_bilm, tmp_path, arguments):
    layer = ELMoEmbedding(tiny_bilm, dropout=0.1, **arguments)
    inputs = keras.Input((), dtype="string")
    model = keras.Model(inputs, layer(inputs))
    layer.mixes[0].scalars.assign([0.0, 1.0, 2.0])
    layer.source.bilm.weights[0].assign(layer.source.bilm.weights[0] * 2.0)
    model.save(tmp_path / "m.keras")
    again = keras.models.load_model(tmp_path / "m.keras")
    expected = tf.nest.flatten(model(TEXTS))
    for first, second in zip(expected, tf.nest.flatten(again(TEXTS)), strict=True):
        np.testing.assert_array_equal(first, second)
    names = [weight.name for weight in model.trainable_weights]
    assert [weight.name for weight in again.trainable_weights] == names


@pytest.mark.parametrize("kind", ["Sequential", "Model"])
def test_the_choice_that_an_input_declares_comes_back(tiny_bilm, tmp_path, kind):
    inputs, layer = keras.Input((None,), dtype="string"), ELMoEmbedding(tiny_bilm, output="elmo")
    given = ([inputs, layer],) if kind == "Sequential" else (inputs, layer(inputs))
    model = getattr(keras, kind)(*given)
    model.save(tmp_path / "m.keras")
    again = keras.models.load_model(tmp_path / "m.keras")
    for found in (model, again, keras.models.clone_model(model)):
        assert found.predict(tf.constant([["call me"]]), verbose=0).shape == (1, 1, 16)


def test_weights_alone_are_saved_and_loaded(make_tiny_bilm, place, tmp_path):
    model = make_model(make_tiny_bilm(seed=5))
    model.save_weights(tmp_path / "m.weights.h5")
    other = make_model(place)
    assert np.abs(other(TEXTS) - model(TEXTS)).max() > 1e-3
    other.load_weights(tmp_path / "m.weights.h5")
    np.testing.assert_array_equal(other(TEXTS), model(TEXTS))


@pytest.mark.parametrize("options", [{}, {"save_frozen": False}])
def test_weights_of_another_bilm_never_change_a_frozen_one_that_must_stay(
    make_tiny_bilm, place, tmp_path, options
):
    """The user's own object, or one that is not saved and so must equal its place."""
    make_model(make_tiny_bilm(seed=5)).save_weights(tmp_path / "m.weights.h5")
    source = place if options else make_tiny_bilm()
    model = make_model(source, **options)
    before = model.layers[0].source.fingerprint()
    with pytest.raises(ValueError, match="must hold the frozen biLM that the model has"):
        model.load_weights(tmp_path / "m.weights.h5")
    assert model.layers[0].source.fingerprint() == before


def test_weights_of_other_options_are_refused_and_change_nothing(
    make_tiny_bilm, tiny_config, place, tmp_path
):
    other = dataclasses.replace(tiny_config, use_skip_connections=False)
    make_model(make_tiny_bilm(other)).save_weights(tmp_path / "same-shapes.weights.h5")
    other = dataclasses.replace(tiny_config, lstm_dim=13)
    make_model(make_tiny_bilm(other)).save_weights(tmp_path / "other-shapes.weights.h5")
    model = make_model(place)
    before = model.layers[0].source.fingerprint()
    for name in ("same-shapes", "other-shapes"):
        with pytest.raises(ValueError, match="biLM of this model's options"):
            model.load_weights(tmp_path / f"{name}.weights.h5")
        assert model.layers[0].source.fingerprint() == before


def test_without_the_frozen_weights_the_file_is_small_and_loads_from_the_place(place, tmp_path):
    model = make_model(place, save_frozen=False)
    model.save(tmp_path / "small.keras")
    make_model(place).save(tmp_path / "whole.keras")
    sizes = [(tmp_path / name).stat().st_size for name in ("small.keras", "whole.keras")]
    assert sizes[0] < sizes[1] - 4 * sum(w.numpy().size for w in model.layers[0].source.weights) / 2
    again = keras.models.load_model(tmp_path / "small.keras")
    np.testing.assert_array_equal(again(TEXTS), model(TEXTS))
    assert again.layers[0].save_frozen is False


def test_without_the_frozen_weights_a_missing_place_is_an_error(place, tmp_path):
    make_model(place, save_frozen=False).save(tmp_path / "m.keras")
    shutil.rmtree(place)
    with pytest.raises(FileNotFoundError, match="sha256 .* must be found at .*Put the files back"):
        keras.models.load_model(tmp_path / "m.keras")


def test_without_the_frozen_weights_another_bilm_is_an_error(place, make_tiny_bilm, tmp_path):
    model = make_model(place, save_frozen=False)
    model.save(tmp_path / "m.keras")
    expected = model.layers[0].source.fingerprint()
    other = make_tiny_bilm(seed=9)
    other.save(place)
    match = f"must have sha256 {expected}.*Received: sha256 {other.fingerprint()}"
    with pytest.raises(ValueError, match=match):
        keras.models.load_model(tmp_path / "m.keras")


def test_without_the_frozen_weights_they_can_be_given_from_elsewhere(
    place, make_tiny_bilm, tmp_path
):
    model = make_model(place, save_frozen=False)
    model.save(tmp_path / "m.keras")
    moved = str(tmp_path / "moved")
    shutil.move(place, moved)
    again = make_model(moved)
    again.load_weights(tmp_path / "m.keras")
    np.testing.assert_array_equal(again(TEXTS), model(TEXTS))
    wrong = make_model(make_tiny_bilm(seed=9))
    with pytest.raises(ValueError, match="must have sha256"):
        wrong.load_weights(tmp_path / "m.keras")


def test_a_config_alone_takes_the_weights_from_the_place(place):
    layer = ELMoEmbedding(place)
    expected = layer(TEXTS).numpy()
    config = layer.get_config()
    del layer
    gc.collect()
    eager = ELMoEmbedding.from_config(config)
    np.testing.assert_array_equal(eager(TEXTS), expected)
    assert eager.get_config() == config


def test_a_config_alone_takes_the_weights_when_it_is_first_traced(place):
    layer = ELMoEmbedding(place)
    expected = layer(TEXTS).numpy()
    config = layer.get_config()
    del layer
    gc.collect()
    model = keras.Sequential([ELMoEmbedding.from_config(config)])
    assert model.layers[0].get_config() == config
    np.testing.assert_allclose(model.predict(TEXTS, verbose=0), expected, atol=1e-6)


def test_a_config_alone_never_gives_random_weights(make_tiny_bilm):
    layer = ELMoEmbedding(make_tiny_bilm(seed=77))
    config = layer.get_config()
    weights = layer.get_weights()
    expected = layer(TEXTS).numpy()
    del layer
    gc.collect()
    bare = ELMoEmbedding.from_config(config)
    for _ in range(2):
        with pytest.raises(ValueError, match="weights must be known before the layer is called"):
            bare(TEXTS)
    bare.set_weights(weights)
    np.testing.assert_array_equal(bare(TEXTS), expected)
