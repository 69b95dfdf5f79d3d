"""The variables of a TF-Hub module as the tensors of a biLM."""

import itertools
import os
import re
from collections.abc import Iterator

import numpy as np
import tensorflow as tf

from keras_elmo.bilm.config import BiLMConfig
from keras_elmo.bilm.names import CELL
from keras_elmo.text.rules import NUM_CHARACTERS

# Not of the biLM: the module's mix, and the rule that splits texts, in modules that we write.
TOKENIZER = "text/tokenizer"
WEIGHTS, SCALING = "aggregation/weights", "aggregation/scaling"
OBJECT = "/.ATTRIBUTES/VARIABLE_VALUE"  # behind each name in checkpoints of TensorFlow 2
ENCODER = re.compile(
    r"(?:.*/)?(char_embed|CNN/[Wb]_cnn_\d+|CNN_high_\d+/[Wb]_(?:carry|transform)|"
    r"CNN_proj/[Wb]_proj)"
)
LSTM = re.compile(
    r"(?:.*/)?RNN_(\d)/RNN/MultiRNNCell/Cell(\d+)/(?:rnn/lstm_cell|LSTMCell)/"
    r"(projection/kernel|kernel|bias|W_P_0|W_0|B)"
)
LSTM_NAMES = {"kernel": "W_0", "bias": "B", "projection/kernel": "W_P_0"}


def read_tensors(directory: str, projection_dim: int) -> dict[str, np.ndarray]:
    """The biLM's tensors in a module's checkpoint, by HDF5 key, float32.

    They are found by the names that google/elmo/1 to 3 and the modules of `export_hub` have.

    Raises:
        ValueError: there is no checkpoint, or it has none of these names.
    """
    try:
        checkpoint = tf.train.load_checkpoint(_prefix(directory))
    except (tf.errors.OpError, ValueError) as error:
        raise ValueError(
            f"{directory} must hold a readable checkpoint of its variables. Received: "
            f"{str(error).splitlines()[0]} Download or copy the module again."
        ) from error
    names = list(checkpoint.get_variable_to_shape_map())
    arrays = {
        key: np.asarray(checkpoint.get_tensor(name), np.float32)
        for name in names
        if (key := key_of(_spelt(name))) is not None
    }
    if not {"char_embed", "CNN/W_cnn_0", _cell("W_P_0")} <= set(arrays):
        raise ValueError(
            f"{directory} must hold the variables of a biLM by the names of google/elmo/3, as "
            f"bilm/char_embed. Received: {', '.join(sorted(map(_spelt, names))[:12])}. Use the "
            "module as it is, without `native=True`."
        )
    arrays["char_embed"] = arrays["char_embed"][-NUM_CHARACTERS:]  # without a row for padding
    if "CNN_proj/W_proj" not in arrays:  # The filters give token vectors as they are.
        arrays["CNN_proj/W_proj"] = np.eye(projection_dim, dtype=np.float32)
        arrays["CNN_proj/b_proj"] = np.zeros(projection_dim, np.float32)
    return arrays


def possible_configs(
    arrays: dict[str, np.ndarray], projection_dim: int, n_layers: int, tokenizer: str
) -> Iterator[BiLMConfig]:
    """The configs that a biLM of these tensors can have, the published models' first.

    No variable tells the activation, skip connections and clips: published are ReLU, True and 3.

    Args:
        arrays: as of `read_tensors`.
        projection_dim: size of the module's token vectors.
        n_layers: its LSTM layers a direction.
        tokenizer: the rule that it splits texts by.
    """
    shapes = {key: array.shape for key, array in arrays.items()}
    kernels = [shapes[key] for key in _numbered("CNN/W_cnn_{}", shapes)]
    for activation, skips, clip in itertools.product(("relu", "tanh"), (True, False), (3.0, None)):
        yield BiLMConfig(
            lstm_dim=shapes[_cell("W_P_0")][0],
            projection_dim=projection_dim,
            n_layers=n_layers,
            char_dim=shapes["char_embed"][-1],
            filters=tuple((kernel[1], kernel[-1]) for kernel in kernels),
            n_highway=len(_numbered("CNN_high_{}/W_carry", shapes)),
            activation=activation,
            use_skip_connections=skips,
            cell_clip=clip,
            proj_clip=clip,
            tokenizer=tokenizer,
        )


def read_mix(directory: str, num_layers: int) -> tuple[list[float] | None, float | None]:
    """What a module itself mixes with: L + 1 numbers before softmax, and the scale.

    Both are None where its checkpoint does not tell.
    """
    scalars, gamma = _values(directory, WEIGHTS, SCALING)
    fits = isinstance(scalars, list) and len(scalars) == num_layers and isinstance(gamma, float)
    return (scalars, gamma) if fits else (None, None)


def read_tokenizer(directory: str) -> str:
    """The rule that a module splits texts by: "space", as TF-Hub's, unless it tells another."""
    (tokenizer,) = _values(directory, TOKENIZER)
    return tokenizer.decode() if isinstance(tokenizer, bytes) else "space"


def key_of(name: str) -> str | None:
    """The HDF5 key of the tensor that a variable's name tells, or None."""
    if match := ENCODER.fullmatch(name):
        return match[1]
    if match := LSTM.fullmatch(name):
        return _cell(LSTM_NAMES.get(match[3], match[3]), int(match[1]), int(match[2]))
    return None


def _cell(name, direction=0, layer=0):
    return f"{CELL.format(direction=direction, layer=layer)}/{name}"


def _numbered(form, keys):
    """The keys of a form with 0, 1 ... up to the first that is absent."""
    return list(itertools.takewhile(keys.__contains__, map(form.format, itertools.count())))


def _values(directory, *ends):
    """For each end of a name the value of the variable that has it, or None."""
    try:
        checkpoint = tf.train.load_checkpoint(_prefix(directory))
    except (tf.errors.OpError, ValueError):
        return [None] * len(ends)  # a module without variables
    names = {_spelt(name): name for name in checkpoint.get_variable_to_shape_map()}
    found = [next((names[name] for name in names if name.endswith(end)), None) for end in ends]
    return [
        None if name is None else np.asarray(checkpoint.get_tensor(name)).tolist() for name in found
    ]


def _prefix(directory):
    return os.path.join(directory, "variables", "variables")


def _spelt(name):
    """A variable's name as its graph spells it."""
    return name.removesuffix(OBJECT).replace(".S", "/").replace("..", ".")
