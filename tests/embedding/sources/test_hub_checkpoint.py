"""Names and shapes of modules' variables."""

import numpy as np
import pytest
import tensorflow as tf

from keras_elmo.embedding.sources.hub_checkpoint import key_of, possible_configs, read_tensors

CELL = "RNN_1/RNN/MultiRNNCell/Cell0/LSTMCell"
TF1 = "module/bilm/RNN_1/RNN/MultiRNNCell/Cell0/rnn/lstm_cell"


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("bilm/char_embed", "char_embed"),
        ("module/bilm/CNN/W_cnn_6", "CNN/W_cnn_6"),
        ("CNN_high_1/b_carry", "CNN_high_1/b_carry"),
        ("bilm/CNN_proj/W_proj", "CNN_proj/W_proj"),
        (f"bilm/{CELL}/W_P_0", f"{CELL}/W_P_0"),
        (f"{TF1}/kernel", f"{CELL}/W_0"),
        (f"{TF1}/projection/kernel", f"{CELL}/W_P_0"),
        (f"{TF1}/bias", f"{CELL}/B"),
        (f"{TF1}/bias/Adam", None),
        ("bilm/fw/layer_0/weights", None),
        ("char_embedding", None),
        ("aggregation/weights", None),
    ],
)
def test_names_tell_keys(name, key):
    assert key_of(name) == key


def test_a_module_s_tensors_tell_all_but_what_no_variable_does(tiny_module, tiny_bilm):
    arrays, expected = read_tensors(tiny_module, 8), tiny_bilm.arrays()
    assert set(arrays) == set(expected)
    for key, array in expected.items():
        np.testing.assert_array_equal(arrays[key], array)
    configs = list(possible_configs(arrays, 8, 2, "space"))
    assert [config.to_options() for config in configs].count(configs[0].to_options()) == 1
    assert (configs[0].activation, configs[0].use_skip_connections) == ("relu", True)
    assert configs[0].cell_clip == configs[0].proj_clip == 3.0
    for config in configs:
        assert (config.lstm_dim, config.char_dim, config.n_highway) == (12, 4, 1)
        assert config.filters == tiny_bilm.config.filters
    assert len(configs) == 8


def save(variables, directory):
    module = tf.Module()
    module.bilm = {name: tf.Variable(array) for name, array in variables.items()}
    tf.saved_model.save(module, str(directory))
    return str(directory)


def test_a_row_for_padding_is_left_out_and_a_projection_may_be_absent(tiny_bilm, tmp_path):
    expected = tiny_bilm.arrays()
    given = {key: array for key, array in expected.items() if "proj" not in key}
    given["char_embed"] = np.pad(expected["char_embed"], [[1, 0], [0, 0]])
    arrays = read_tensors(save(given, tmp_path / "module"), 8)
    np.testing.assert_array_equal(arrays["char_embed"], expected["char_embed"])
    np.testing.assert_array_equal(arrays["CNN_proj/W_proj"], np.eye(8))
    assert not np.any(arrays["CNN_proj/b_proj"])


def test_other_variables_are_told(tiny_bilm, tmp_path):
    directory = save({"fw_weights": np.zeros(3)}, tmp_path / "module")
    with pytest.raises(ValueError, match="by the names of google/elmo/3.*Received: .*fw_weights"):
        read_tensors(directory, 8)


def test_a_missing_checkpoint_is_told(tmp_path):
    with pytest.raises(ValueError, match="must hold a readable checkpoint"):
        read_tensors(str(tmp_path), 8)
