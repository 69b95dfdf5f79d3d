"""The variables of a TF-Hub module as the tensors of a biLM."""

import collections
import itertools
import os
import re
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from keras_elmo.bilm.config import BiLMConfig
from keras_elmo.bilm.names import CELL, weight_shapes
from keras_elmo.text.rules import NUM_CHARACTERS

# Not of the biLM: the module's mix, counters, and what an optimizer keeps.
TOKENIZER = "text/tokenizer"  # of the rule that splits texts, in modules that we write
WEIGHTS, SCALING = "aggregation/weights", "aggregation/scaling"  # of the module's own mix
OTHERS = re.compile(r"aggregation/|text/|global_step|save_counter|/Adagrad|/Adam|_CHECKPOINTABLE")
OBJECT = "/.ATTRIBUTES/VARIABLE_VALUE"  # behind each name in checkpoints of TensorFlow 2
ENCODER = re.compile(
    r"(?:.*/)?(char_embed|CNN/[Wb]_cnn_\d+|CNN_high_\d+/[Wb]_(?:carry|transform)|"
    r"CNN_proj/[Wb]_proj)"
)
LSTM = re.compile(
    r"(?:.*/)?RNN_(\d+)/.*cell_?(\d+)/.*?"
    r"(projection/kernel|kernel|bias|W_P_0|W_0|B)",
    re.IGNORECASE,
)
LSTM_NAMES = {"kernel": "W_0", "bias": "B", "projection/kernel": "W_P_0"}


class Reading(NamedTuple):
    """A way to read a checkpoint.

    Attributes:
        config: BiLMConfig.
        variables: dict of HDF5 key to the variable's name.
        guessed: tuple of the HDF5 keys that were found by shape and order, not by name.
        assumed: str, what the variables do not tell.
    """

    config: BiLMConfig
    variables: dict
    guessed: tuple
    assumed: str


def readings(directory, projection_dim, n_layers, tokenizer="space"):
    """All ways to read a module's checkpoint as a biLM, the likeliest first.

    Variables go by their names where these are known, and otherwise by shape and, among those of
    one shape, in the order of their names: a direction's layers one after the other, or the
    directions of a layer. What no variable tells is first as in the published models: ReLU after
    the convolutions, skip connections, clips at 3.

    Args:
        directory: path of a SavedModel.
        projection_dim: int, size of the module's token vectors.
        n_layers: int, its LSTM layers a direction.
        tokenizer: str, the rule that it splits texts by.

    Yields:
        Reading.

    Raises:
        ValueError: there is no checkpoint, or its variables are not those of a biLM.
    """
    shapes = _shapes(directory)
    sizes = _sizes(shapes, projection_dim, directory)
    for activation, skips, clip in itertools.product(("relu", "tanh"), (True, False), (3.0, None)):
        config = BiLMConfig(
            projection_dim=projection_dim,
            n_layers=n_layers,
            activation=activation,
            use_skip_connections=skips,
            cell_clip=clip,
            proj_clip=clip,
            tokenizer=tokenizer,
            **sizes,
        )
        assumed = f"{activation}, {'skip' if skips else 'no skip'} connections, clips {clip}"
        for variables, guessed in _assignments(shapes, config, directory):
            yield Reading(config, variables, guessed, assumed)


def read_arrays(directory, reading):
    """The tensors of a reading: dict of HDF5 key to float32 array."""
    checkpoint = tf.train.load_checkpoint(_prefix(directory))
    names = {_spelt(name): name for name in checkpoint.get_variable_to_shape_map()}
    arrays = {
        key: np.asarray(checkpoint.get_tensor(names[name]), np.float32)
        for key, name in reading.variables.items()
    }
    arrays["char_embed"] = arrays["char_embed"][-NUM_CHARACTERS:]  # without a row for padding
    if "CNN_proj/W_proj" not in arrays:
        dim = reading.config.projection_dim
        arrays["CNN_proj/W_proj"] = np.eye(dim, dtype=np.float32)
        arrays["CNN_proj/b_proj"] = np.zeros(dim, np.float32)
    return arrays


def read_mix(directory, num_layers):
    """What a module itself mixes with, as far as its checkpoint tells.

    Args:
        directory: path of a SavedModel.
        num_layers: int, L + 1.

    Returns:
        `(scalars, gamma)`: list of floats before softmax and a float, or `(None, None)`.
    """
    scalars, gamma = _values(directory, WEIGHTS, SCALING)
    fits = isinstance(scalars, list) and len(scalars) == num_layers and isinstance(gamma, float)
    return (scalars, gamma) if fits else (None, None)


def read_tokenizer(directory):
    """The rule that a module splits texts by: "space", as TF-Hub's, unless it tells another."""
    (tokenizer,) = _values(directory, TOKENIZER)
    return tokenizer.decode() if isinstance(tokenizer, bytes) else "space"


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


def key_of(name):
    """The HDF5 key that a variable's name tells, or None."""
    if match := ENCODER.fullmatch(name):
        return match[1]
    if match := LSTM.fullmatch(name):
        direction, layer, kind = int(match[1]), int(match[2]), match[3]
        cell = CELL.format(direction=direction, layer=layer)
        return f"{cell}/{LSTM_NAMES.get(kind, kind)}"
    return None


def _prefix(directory):
    return os.path.join(directory, "variables", "variables")


def _shapes(directory):
    """Names of the variables that can be the biLM's, in natural order, and their shapes."""
    try:
        found = tf.train.list_variables(_prefix(directory))
    except (tf.errors.OpError, ValueError) as error:
        raise ValueError(
            f"{directory} must hold a readable checkpoint of its variables. Received: "
            f"{str(error).splitlines()[0]} Download or copy the module again."
        ) from error
    kept = {_spelt(name): tuple(shape) for name, shape in found if not OTHERS.search(name)}
    return {name: kept[name] for name in sorted(kept, key=_natural)}


def _spelt(name):
    """A variable's name as its graph spells it."""
    return name.removesuffix(OBJECT).replace(".S", "/").replace("..", ".")


def _natural(name):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def _sizes(shapes, projection_dim, directory):
    """What the shapes tell of a config, as its arguments."""
    kernels = {key_of(name) or name: shape for name, shape in shapes.items() if len(shape) == 4}
    kernels = [kernels[name] for name in sorted(kernels, key=_natural)]
    cells = [
        shape[0]
        for shape in shapes.values()
        if len(shape) == 2
        and shape[1] == projection_dim
        and (2 * projection_dim, 4 * shape[0]) in shapes.values()
    ]
    if not kernels or not cells:
        raise ValueError(
            f"{directory} must hold the variables of a biLM: convolutions of rank 4, and LSTMs "
            f"with a projection to {projection_dim}. Received: {_listed(shapes)}. Only modules of "
            "the published kind can be converted."
        )
    features = sum(shape[3] for shape in kernels)
    return {
        "lstm_dim": collections.Counter(cells).most_common(1)[0][0],
        "char_dim": kernels[0][2],
        "filters": tuple((shape[1], shape[3]) for shape in kernels),
        "n_highway": list(shapes.values()).count((features, features)) // 2,
    }


def _assignments(shapes, config, directory):
    """Yields `(variables, guessed)` for each order that variables of one shape may stand in."""
    wanted = {key: shape for key, (shape, _) in weight_shapes(config).items()}
    if "CNN_proj/W_proj" not in map(key_of, shapes) and _needs_no_projection(config, shapes):
        wanted = {k: shape for k, shape in wanted.items() if not k.startswith("CNN_proj/")}
    named = {key_of(name): name for name in shapes if key_of(name) in wanted}
    unknown = [name for name in shapes if name not in named.values()]
    missing = [key for key in wanted if key not in named]
    for order in _orders(missing):
        groups = collections.defaultdict(list)
        for name in unknown:
            groups[_without_padding_row(shapes[name])].append(name)
        variables = {**named}
        for key in order:
            if not groups[wanted[key]]:
                raise ValueError(
                    f"{directory} must hold a variable for `{key}`, of shape {wanted[key]}. "
                    f"Received: {_listed(shapes)}. Only modules of the published kind can be "
                    "converted."
                )
            variables[key] = groups[wanted[key]].pop(0)
        _check(variables, shapes, wanted, directory)
        yield variables, tuple(missing)


def _needs_no_projection(config, shapes):
    """Whether the filters give token vectors as they are, and nothing unnamed projects them."""
    features = sum(count for _, count in config.filters)
    return features == config.projection_dim and not any("proj" in name for name in shapes)


def _orders(missing):
    """Orders of the keys that names do not tell: direction by direction, or layer by layer."""

    def place(key):
        match = LSTM.fullmatch(key)
        return (int(match[2]), int(match[1])) if match else (-1, -1)

    by_layer = sorted(missing, key=place)
    yield missing
    if by_layer != missing:
        yield by_layer


def _without_padding_row(shape):
    """A table of characters may have a row for padding."""
    if len(shape) == 2 and shape[0] == NUM_CHARACTERS + 1:
        return (NUM_CHARACTERS, shape[1])
    return shape


def _check(variables, shapes, wanted, directory):
    for key, name in variables.items():
        if _without_padding_row(shapes[name]) != wanted[key]:
            raise ValueError(
                f"The variable '{name}' of {directory} must have shape {wanted[key]} (`{key}`). "
                f"Received: {shapes[name]}. Only modules of the published kind can be converted."
            )


def _listed(shapes):
    told = [f"{name} {shape}" for name, shape in itertools.islice(shapes.items(), 12)]
    return ", ".join([*told, *(["..."] if len(shapes) > 12 else [])])
