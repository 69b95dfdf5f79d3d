"""Names and shapes of modules' variables."""

import numpy as np
import pytest
import tensorflow as tf
from tiny_hub_module import write_module

from keras_elmo.bilm.names import weight_shapes
from keras_elmo.embedding.sources.hub_checkpoint import key_of, read_arrays, readings

CELL = "RNN_1/RNN/MultiRNNCell/Cell0/LSTMCell"


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("bilm/char_embed", "char_embed"),
        ("module/bilm/CNN/W_cnn_6", "CNN/W_cnn_6"),
        ("CNN_high_1/b_carry", "CNN_high_1/b_carry"),
        ("bilm/CNN_proj/W_proj", "CNN_proj/W_proj"),
        (f"bilm/{CELL}/W_P_0", f"{CELL}/W_P_0"),
        ("module/bilm/RNN_1/RNN/MultiRNNCell/Cell0/rnn/lstm_cell/kernel", f"{CELL}/W_0"),
        ("bilm/RNN_1/RNN/MultiRNNCell/Cell0/rnn/lstm_cell/projection/kernel", f"{CELL}/W_P_0"),
        ("lm/RNN_1/rnn/multi_rnn_cell/cell_0/lstm_cell/bias", f"{CELL}/B"),
        ("bilm/fw/layer_0/weights", None),
        ("char_embedding", None),
        ("aggregation/weights", None),
    ],
)
def test_names_tell_keys(name, key):
    assert key_of(name) == key


def _first(directory):
    return next(readings(directory, 8, 2))


def test_known_names_are_read_by_name(tiny_bilm, tmp_path):
    directory = write_module(tiny_bilm, tmp_path / "module")
    reading = _first(directory)
    assert reading.guessed == ()
    assert reading.variables[f"{CELL}/W_0"] == f"bilm/{CELL}/W_0"
    assert set(reading.variables) == set(weight_shapes(tiny_bilm.config))
    expected = tiny_bilm.arrays()
    for key, array in read_arrays(directory, reading).items():
        np.testing.assert_array_equal(array, expected[key])


def _by_direction(key):
    return key.replace("RNN_0", "ahead").replace("RNN_1", "behind").replace("LSTMCell/", "x_")


def test_unknown_names_go_by_shape_and_order(tiny_bilm, tmp_path):
    directory = write_module(tiny_bilm, tmp_path / "module", spell=_by_direction)
    reading = _first(directory)
    assert reading.guessed == tuple(key for key in weight_shapes(tiny_bilm.config) if "RNN" in key)
    assert reading.variables[f"{CELL}/B"] == "behind/RNN/MultiRNNCell/Cell0/x_B"
    np.testing.assert_array_equal(
        read_arrays(directory, reading)[f"{CELL}/B"], tiny_bilm.arrays()[f"{CELL}/B"]
    )


def test_what_no_variable_tells_is_first_as_published(tiny_bilm, tmp_path):
    directory = write_module(tiny_bilm, tmp_path / "module", spell=_by_direction)
    assumed = [reading.assumed for reading in readings(directory, 8, 2)]
    assert assumed[0] == assumed[1] == "relu, skip connections, clips 3.0"
    assert len(assumed) == 16 and "tanh, no skip connections, clips None" in assumed


def _save(variables, directory):
    module = tf.Module()
    module.bilm = {name: tf.Variable(array) for name, array in variables.items()}
    tf.saved_model.save(module, str(directory))
    return str(directory)


def test_a_row_for_padding_is_left_out(tiny_bilm, tmp_path):
    table = tiny_bilm.arrays()["char_embed"]
    variables = {**tiny_bilm.arrays(), "char_embed": np.pad(table, [[1, 0], [0, 0]])}
    directory = _save(variables, tmp_path / "module")
    reading = _first(directory)
    assert reading.guessed == () and reading.variables["char_embed"] == "bilm/char_embed"
    np.testing.assert_array_equal(read_arrays(directory, reading)["char_embed"], table)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"char_embed": (200, 4)}, r"'bilm/char_embed' of .* shape \(261, 4\).*\(200, 4\)"),
        ({"CNN/b_cnn_0": None}, r"must hold a variable for `CNN/b_cnn_0`, of shape \(4,\)"),
        (
            {f"CNN/W_cnn_{k}": None for k in range(3)},
            r"must hold the variables of a biLM.*Received: bilm/CNN/b_cnn_0 \(4,\)",
        ),
    ],
)
def test_other_variables_are_told(changes, message, tiny_bilm, tmp_path):
    variables = tiny_bilm.arrays()
    for key, shape in changes.items():
        del variables[key]
        if shape is not None:
            variables[key] = np.zeros(shape, np.float32)
    with pytest.raises(ValueError, match=message):
        list(readings(_save(variables, tmp_path / "module"), 8, 2))


def test_a_missing_checkpoint_is_told(tmp_path):
    with pytest.raises(ValueError, match="must hold a readable checkpoint"):
        list(readings(str(tmp_path), 8, 2))
