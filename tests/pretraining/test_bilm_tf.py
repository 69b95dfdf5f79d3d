"""Checkpoints as the TensorFlow 1 trainer writes them, made by TensorFlow's own Saver."""

import dataclasses
import json
import os
import shutil

import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.language_model.perplexity import evaluate
from keras_elmo.pretraining.bilm_tf import is_bilm_tf, load_bilm_tf
from keras_elmo.pretraining.initialization import load_source

SENTENCES = [[b"the", b"cat", b"sat"], [b"a", b"dog"], [b"on", b"the", b"mat"]]


def variables_of(model):
    """The variables of a trainer whose model has these weights, by their names there."""
    arrays = model.bilm.arrays()
    named = {"lm/char_embed": arrays["char_embed"]}
    for k in range(len(model.bilm.config.filters)):
        for name in ("W_cnn", "b_cnn"):
            named[f"lm/CNN/{name}_{k}"] = arrays[f"CNN/{name}_{k}"]
    for name in ("W_carry", "b_carry", "W_transform", "b_transform"):
        named[f"lm/CNN_high_0/{name}"] = arrays[f"CNN_high_0/{name}"]
    named["lm/CNN_proj/W_proj"] = arrays["CNN_proj/W_proj"]
    named["lm/CNN_proj/b_proj"] = arrays["CNN_proj/b_proj"]
    for direction in (0, 1):
        for layer in (0, 1):
            cell = f"lm/RNN_{direction}/rnn/multi_rnn_cell/cell_{layer}/lstm_cell"
            ours = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            named[f"{cell}/kernel"] = arrays[f"{ours}/W_0"]
            named[f"{cell}/bias"] = arrays[f"{ours}/B"]
            named[f"{cell}/projection/kernel"] = arrays[f"{ours}/W_P_0"]
    named["lm/softmax/W"] = np.asarray(model.softmax.W).T
    named["lm/softmax/b"] = np.asarray(model.softmax.b)
    return named


def options_of(model):
    """The options file of such a run: 261 characters, and what else the trainer wants to know."""
    options = model.bilm.config.to_options()
    options["char_cnn"]["n_characters"] = 261
    training = {"all_clip_norm_val": 10.0, "batch_size": 128, "bidirectional": True, "dropout": 0.1}
    training |= {"n_epochs": 10, "n_tokens_vocab": len(model.vocabulary), "unroll_steps": 20}
    return {**options, **training, "n_negative_samples_batch": 8192, "n_train_tokens": 768648884}


def save(directory, variables, step=100):
    """Write a checkpoint with optimizer slots and counters beside the given variables."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        made = []
        for name, array in variables.items():
            made.append(tf.compat.v1.Variable(array, name=name))
            made.append(tf.compat.v1.Variable(np.ones_like(array), name=f"{name}/Adagrad"))
        made.append(tf.compat.v1.Variable(float(step), name="global_step"))
        made.append(tf.compat.v1.Variable(55.0, name="train_perplexity"))
        session.run([variable.initializer for variable in made])
        saver = tf.compat.v1.train.Saver(made)
        saver.save(session, os.path.join(directory, "model.ckpt"), step, write_meta_graph=False)


@pytest.fixture
def model(make_model):
    return make_model("full")


@pytest.fixture
def run(model, tmp_path):
    """The directory of a training run of `model`."""
    directory = tmp_path / "run"
    directory.mkdir()
    (directory / "options.json").write_text(json.dumps(options_of(model)))
    save(directory, variables_of(model))
    return directory


@pytest.fixture
def words(model, tmp_path):
    """The vocabulary file of the run."""
    model.vocabulary.write(tmp_path / "words.txt")
    return tmp_path / "words.txt"


def test_vectors_and_perplexity_are_those_of_the_same_arrays(model, run, words):
    loaded = load_bilm_tf(run, words)
    assert loaded.bilm.config == model.bilm.config
    assert loaded.vocabulary.words == model.vocabulary.words
    assert loaded.softmax.kind == "full"
    tokens = tf.ragged.constant(SENTENCES)
    found = loaded.bilm.embed_tokens(tokens).layers
    np.testing.assert_allclose(found, model.bilm.embed_tokens(tokens).layers, atol=1e-5)
    assert tuple(evaluate(loaded, SENTENCES)) == pytest.approx(tuple(evaluate(model, SENTENCES)))


def test_loads_frozen_or_not(run, words):
    assert load_bilm_tf(run, words).bilm.trainable_variables == []
    assert len(load_bilm_tf(run, words, frozen=False).bilm.trainable_variables) > 0


def test_newest_checkpoint_also_of_a_copied_directory(model, run, words, tmp_path):
    expected = np.arange(9, dtype=np.float32)
    save(run, {**variables_of(model), "lm/softmax/b": expected}, step=1000)
    # `checkpoint` names the newest by the path that it had when it was written.
    moved = tmp_path / "moved"
    shutil.move(run, moved)
    np.testing.assert_array_equal(load_bilm_tf(moved, words).softmax.b, expected)
    (moved / "checkpoint").write_text('model_checkpoint_path: "/gone/model.ckpt-100"')
    np.testing.assert_array_equal(load_bilm_tf(moved, words).softmax.b, model.softmax.b)
    for content in (b"", b"no proto {", b"\xff"):
        (moved / "checkpoint").write_bytes(content)
        np.testing.assert_array_equal(load_bilm_tf(moved, words).softmax.b, expected)
    (moved / "checkpoint").unlink()
    np.testing.assert_array_equal(load_bilm_tf(moved, words).softmax.b, expected)


def test_line_that_bilm_tf_passes_over_in_vocabulary_files(model, run, words):
    words.write_text(words.read_text() + "!!!MAXTERMID\n")
    assert load_bilm_tf(run, words).vocabulary.words == model.vocabulary.words


def test_projections_that_bilm_tf_leaves_out_are_identities(make_model, tiny_config, tmp_path):
    config = dataclasses.replace(tiny_config, filters=((1, 4), (2, 4)), lstm_dim=8)
    model = make_model("full", config=config)
    arrays = model.bilm.arrays()
    for key in arrays:
        if key.endswith(("W_proj", "W_P_0")):
            arrays[key] = np.eye(8)
    model.bilm.set_arrays({**arrays, "CNN_proj/b_proj": np.zeros(8)})
    written = {name: array for name, array in variables_of(model).items() if "proj" not in name}
    save(tmp_path, written)
    options = options_of(model)
    (tmp_path / "options.json").write_text(json.dumps(options))
    model.vocabulary.write(tmp_path / "words.txt")
    loaded = load_bilm_tf(tmp_path, tmp_path / "words.txt").bilm
    tokens = tf.ragged.constant(SENTENCES)
    expected = model.bilm.embed_tokens(tokens).layers
    np.testing.assert_allclose(loaded.embed_tokens(tokens).layers, expected, atol=1e-5)
    # Below 1 the clip of an identity would bound what the trainer's cell does not.
    options["lstm"]["proj_clip"] = 0.5
    (tmp_path / "options.json").write_text(json.dumps(options))
    with pytest.raises(ValueError, match="must hold .*lstm_cell/projection/kernel"):
        load_bilm_tf(tmp_path, tmp_path / "words.txt")


def test_recognises_checkpoints(run, tiny_directory, tmp_path):
    assert is_bilm_tf(run)
    (run / "checkpoint").unlink()
    assert is_bilm_tf(run)
    assert not is_bilm_tf(tiny_directory)
    (tmp_path / "other" / "checkpoint").mkdir(parents=True)
    assert not is_bilm_tf(tmp_path / "other")


@pytest.mark.parametrize(
    "missing",
    ["lm/char_embed", "lm/RNN_1/rnn/multi_rnn_cell/cell_1/lstm_cell/bias", "lm/softmax/W"],
)
def test_missing_variable(model, run, words, missing):
    variables = variables_of(model)
    del variables[missing]
    save(run, variables)
    with pytest.raises(ValueError, match=f"model.ckpt-100 must hold the variable.*'{missing}'"):
        load_bilm_tf(run, words)


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        ("lm/CNN_proj/W_proj", (18, 9), r"shape \(18, 8\).*lstm.projection_dim.*float32 \(18, 9\)"),
        ("lm/softmax/W", (9, 7), r"shape \(words, 8\).*projection_dim.*Received: float32 \(9, 7\)"),
        ("lm/softmax/b", (), r"shape \(words,\).*Received: float32 \(\)"),
    ],
)
def test_wrong_shape(model, run, words, name, shape, message):
    save(run, {**variables_of(model), name: np.zeros(shape, np.float32)})
    with pytest.raises(ValueError, match=f"variable '{name}' must be floating point of {message}"):
        load_bilm_tf(run, words)


def test_wrong_type_and_values_that_are_no_numbers(model, run, words):
    save(run, {**variables_of(model), "lm/CNN_proj/b_proj": np.zeros(8, np.int32)})
    with pytest.raises(
        ValueError, match=r"b_proj' must be floating point .*Received: int32 \(8,\)"
    ):
        load_bilm_tf(run, words)
    save(run, {**variables_of(model), "lm/CNN_proj/b_proj": np.full(8, np.nan, np.float32)})
    with pytest.raises(ValueError, match="b_proj' must be finite.*Take an earlier checkpoint"):
        load_bilm_tf(run, words)


def test_checkpoint_of_a_larger_model(model, run, words):
    kernel = "lm/RNN_0/rnn/multi_rnn_cell/cell_2/lstm_cell/kernel"
    save(run, {**variables_of(model), kernel: np.zeros((16, 48), np.float32)})
    with pytest.raises(ValueError, match=f"larger model: '{kernel}'.*Check lstm.n_layers"):
        load_bilm_tf(run, words)


def test_vocabulary_of_another_size(run, words):
    words.write_text(words.read_text() + "zebra\n")
    with pytest.raises(ValueError, match="words.txt must hold .*Received 10 words; .*has 9"):
        load_bilm_tf(run, words)


@pytest.mark.parametrize("suffix", [".index", ".data-00000-of-00001"])
@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "gone"])
def test_damaged_files(run, words, suffix, damage):
    path = run / f"model.ckpt-100{suffix}"
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
        error = FileNotFoundError if suffix == ".index" else ValueError
    else:
        error = ValueError
        changed = bytes(255 - byte for byte in content)
        path.write_bytes({"cut": content[:999], "changed": changed, "empty": b""}[damage])
    with pytest.raises(error, match="model.ckpt-100") as caught:
        load_bilm_tf(run, words)
    assert "\n" not in str(caught.value)


def test_no_checkpoint_no_options_no_vocabulary(run, words, tmp_path):
    with pytest.raises(FileNotFoundError, match="none.txt"):
        load_bilm_tf(run, tmp_path / "none.txt")
    for path in run.glob("model.ckpt-100*"):
        path.unlink()
    with pytest.raises(FileNotFoundError, match=r"must hold model.ckpt-100.index.*: none. Copy"):
        load_bilm_tf(run, words)
    (run / "checkpoint").unlink()
    with pytest.raises(FileNotFoundError, match=r"must hold model.ckpt-N.index.*: none. Copy"):
        load_bilm_tf(run, words)
    (run / "options.json").unlink()
    with pytest.raises(FileNotFoundError, match="must hold options.json beside its checkpoint"):
        load_bilm_tf(run, words)


def test_training_can_start_from_it(model, run, words):
    loaded = load_source(run, words)
    np.testing.assert_array_equal(loaded.softmax.W, model.softmax.W)
    with pytest.raises(ValueError, match="vocabulary file that .* must be given.*Received: none"):
        load_source(run)
