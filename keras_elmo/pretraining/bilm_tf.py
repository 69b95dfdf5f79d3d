"""Training checkpoints of bilm-tf (TensorFlow 1), softmax included."""

import contextlib
import os
import re
from typing import Any

import numpy as np
import tensorflow as tf

from keras_elmo.bilm.bilm import BiLM
from keras_elmo.bilm.config import BiLMConfig
from keras_elmo.bilm.names import weight_shapes
from keras_elmo.language_model.bidirectional import BidirectionalLanguageModel
from keras_elmo.language_model.softmax.full import FullSoftmax
from keras_elmo.text.rules import NUM_CHARACTERS
from keras_elmo.text.vocabulary import Vocabulary

OPTIONS = "options.json"
NOT_A_WORD = "!!!MAXTERMID"  # bilm-tf passes over such a line of a vocabulary file
SOFTMAX_W, SOFTMAX_B = "lm/softmax/W", "lm/softmax/b"
# How a key of the HDF5 layout is spelt in a checkpoint, after "lm/".
SPELLINGS = (
    ("/RNN/MultiRNNCell/Cell", "/rnn/multi_rnn_cell/cell_"),
    ("/LSTMCell/W_0", "/lstm_cell/kernel"),
    ("/LSTMCell/B", "/lstm_cell/bias"),
    ("/LSTMCell/W_P_0", "/lstm_cell/projection/kernel"),
)


def is_bilm_tf(directory: str | os.PathLike) -> bool:
    """Whether a directory holds a TensorFlow checkpoint, as bilm-tf's trainer writes them."""
    names = [entry.name for entry in os.scandir(os.fspath(directory)) if entry.is_file()]
    return any(name == "checkpoint" or name.endswith(".index") for name in names)


def load_bilm_tf(
    directory: str | os.PathLike,
    vocabulary_path: str | os.PathLike,
    frozen: bool = True,
    dtype: Any = None,
) -> BidirectionalLanguageModel:
    """Read the newest training checkpoint of a directory that bilm-tf's trainer wrote.

    Args:
        directory: path of a directory with `options.json` and `model.ckpt-N.*`.
        vocabulary_path: path of the vocabulary file that was trained with.
        frozen: whether the biLM's weights are created non-trainable.
        dtype: dtype policy of the layers, or None for Keras' default.

    Returns:
        A model with a FullSoftmax. The state of the optimizer is not read.

    Raises:
        FileNotFoundError: there are no options, no checkpoint or no vocabulary.
        ValueError: a file is damaged, a variable is missing or of another shape than the options
            say, or the vocabulary is of another size than the softmax.

    Source: `allenai/bilm-tf`, `dump_weights` (names of the variables).
    """
    directory = os.fspath(directory)
    config = _read_config(directory)
    words = Vocabulary.read(vocabulary_path).words
    vocabulary = Vocabulary(word for word in words if word != NOT_A_WORD)
    arrays = _read_variables(_newest(directory), config)
    _check_vocabulary(vocabulary, arrays[SOFTMAX_W], vocabulary_path)
    softmax = FullSoftmax(len(vocabulary), config.projection_dim, dtype=dtype)
    softmax.set_rows(arrays.pop(SOFTMAX_W), arrays.pop(SOFTMAX_B))
    bilm = BiLM(config, frozen=frozen, dtype=dtype)
    bilm.set_arrays({key: arrays[_variable_name(key)] for key in weight_shapes(config)})
    return BidirectionalLanguageModel(bilm, softmax, vocabulary)


def _read_config(directory):
    path = os.path.join(directory, OPTIONS)
    if not os.path.isfile(path):
        raise FileNotFoundError(
            f"{directory} must hold {OPTIONS} beside its checkpoint. It is not there. "
            "Copy the whole directory that bilm-tf's trainer wrote."
        )
    with open(path, "rb") as file:
        content = file.read()
    # bilm-tf's trainer counts no padding and accepts this number only.
    counted = re.sub(
        rb'("n_characters"\s*:\s*)%d\b' % NUM_CHARACTERS,
        rb"\g<1>%d" % (NUM_CHARACTERS + 1),
        content,
    )
    return BiLMConfig.from_json(counted, source=path)


def _newest(directory):
    """The path of the checkpoint that the file `checkpoint` names, else the one of most steps."""
    named = _named_in_state_file(directory)
    found = [
        name.removesuffix(".index") for name in os.listdir(directory) if name.endswith(".index")
    ]
    if named is None and found:
        return os.path.join(directory, max(found, key=_steps))
    if named in found:
        return os.path.join(directory, named)
    raise FileNotFoundError(
        f"{directory} must hold {named or 'model.ckpt-N'}.index and its data. Received the "
        f"checkpoints: {sorted(found) or 'none'}. Copy the whole directory; or remove its file "
        "`checkpoint`, which names the one to read."
    )


def _named_in_state_file(directory):
    with contextlib.suppress(ValueError):  # a damaged file names nothing
        state = tf.train.get_checkpoint_state(directory)
        if state is not None:
            return os.path.basename(state.model_checkpoint_path)
    return None


def _steps(name):
    number = re.search(r"-(\d+)$", name)
    return int(number[1]) if number else -1


def _read_variables(path, config):
    """The variables of a checkpoint that the model has, name to float32 array, all checked."""
    with _readable(path):
        reader = tf.train.load_checkpoint(path)
        found = reader.get_variable_to_shape_map()
        dtypes = reader.get_variable_to_dtype_map()
    table = _variable_table(config, found)
    _check_names(table, found, path)
    for name, row in table.items():
        _check_variable(name, row, tuple(found[name]), dtypes[name], path)
    with _readable(path):
        arrays = {name: reader.get_tensor(name).astype(np.float32) for name in table}
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise ValueError(
                f"{path}: variable '{name}' must be finite. Received NaN or infinity. "
                "Take an earlier checkpoint."
            )
    return {**_identities(config), **arrays}


@contextlib.contextmanager
def _readable(path):
    """Turns what TensorFlow raises on a damaged checkpoint, of many types, into one error."""
    try:
        yield
    except (tf.errors.OpError, OSError, RuntimeError, LookupError, ValueError) as error:
        raise ValueError(
            f"{path} must be a complete TensorFlow checkpoint. Received one that TensorFlow "
            f"cannot read ({' '.join(str(error).split())}). Copy its .index and .data files again."
        ) from None


def _variable_name(key):
    for ours, theirs in SPELLINGS:
        key = key.replace(ours, theirs)
    return f"lm/{key}"


def _variable_table(config, found):
    """Name of each variable that must be there to its shape and the options that decide it."""
    absent = [name for name in _identities(config) if name not in found]
    table = {_variable_name(key): row for key, row in weight_shapes(config).items()}
    table[SOFTMAX_W] = ((None, config.projection_dim), "lstm.projection_dim")
    table[SOFTMAX_B] = ((None,), "n_tokens_vocab")
    return {name: row for name, row in table.items() if name not in absent}


def _identities(config):
    """The projections that bilm-tf leaves out, for they would not change the size."""
    size = config.projection_dim
    table = {}
    if sum(count for _, count in config.filters) == size:
        table["lm/CNN_proj/W_proj"] = np.eye(size, dtype=np.float32)
        table["lm/CNN_proj/b_proj"] = np.zeros(size, np.float32)
    # Without a projection nothing is clipped; no output is above 1 then.
    if config.lstm_dim == size and (config.proj_clip is None or config.proj_clip >= 1):
        for key in weight_shapes(config):
            if key.endswith("W_P_0"):
                table[_variable_name(key)] = np.eye(size, dtype=np.float32)
    return table


def _check_names(table, found, path):
    missing = [name for name in table if name not in found]
    if missing:
        raise ValueError(
            f"{path} must hold the variable(s) {_listed(missing)}. Received {len(found)} "
            f"variables without them. Give a bidirectional model of bilm-tf's trainer with the "
            f"{OPTIONS} that it was trained with."
        )
    extra = [name for name in sorted(found) if _is_weight(name) and name not in table]
    extra = [name for name in extra if os.path.dirname(name) not in table]  # optimizer's slots
    if extra:
        raise ValueError(
            f"{path} must fit {OPTIONS}. Received variables of a larger model: {_listed(extra)}. "
            "Check lstm.n_layers, char_cnn.filters and char_cnn.n_highway."
        )


def _is_weight(name):
    return name.startswith(("lm/RNN_", "lm/CNN"))


def _listed(names, most=6):
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _check_variable(name, row, found, dtype, path):
    shape, options = row
    fits = len(found) == len(shape) and all(
        size in (None, there) for size, there in zip(shape, found, strict=True)
    )
    if not fits or not dtype.is_floating:
        wanted = str(shape).replace("None", "words")
        raise ValueError(
            f"{path}: variable '{name}' must be floating point of shape {wanted}, which the "
            f"option(s) {options} decide. Received: {dtype.name} {found}. "
            f"Give the {OPTIONS} of this checkpoint."
        )


def _check_vocabulary(vocabulary, weights, path):
    if len(vocabulary) != len(weights):
        raise ValueError(
            f"{path} must hold the words that the checkpoint was trained with. Received "
            f"{len(vocabulary):,} words; its softmax has {len(weights):,}. "
            "Give the vocabulary file of that training run."
        )
