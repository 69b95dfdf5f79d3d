"""A TF-Hub ELMo module, loaded, as a function of tokens."""

import functools
import hashlib
import os

import tensorflow as tf

from keras_elmo.basics import files
from keras_elmo.embedding.sources.hub_checkpoint import read_mix, read_tokenizer
from keras_elmo.layers.fast.traced import traced_once

MODULE = "Give the directory of an ELMo module, with a `tokens` signature as google/elmo/3 has it."


class HubModule:
    """The frozen layers of a module: its `tokens` signature, and the mix that it would make.

    Modules whose graph has trainable variables cannot run under a gradient tape; here they run in
    a graph of their own, behind a stopped gradient, and no variable of theirs is touched.

    Args:
        directory: path of a SavedModel, of TensorFlow 1 or 2.

    Attributes:
        num_layers: int, L + 1.
        output_dim: int, size of an LSTM layer's vectors, both directions.
        scalars, gamma: what the module mixes with, before softmax, or None where it does not tell.
        tokenizer: str, the rule that its signature `default` splits texts by.
    """

    def __init__(self, directory):
        self.directory = os.fspath(directory)
        self._module = _load(self.directory)
        self._signature = _tokens_signature(self._module, self.directory)
        self._outputs = _layer_outputs(self._signature, self.directory)
        self.num_layers = len(self._outputs)
        self.output_dim = _output_dim(self._signature, self._outputs, self.directory)
        self.scalars, self.gamma = read_mix(self.directory, self.num_layers)
        self.tokenizer = read_tokenizer(self.directory)
        tokens, lengths = tf.TensorSpec((None, None), tf.string), tf.TensorSpec((None,), tf.int32)
        self._run = traced_once(self._layers, tokens, lengths)

    def __call__(self, tokens):
        """`(layers, mask)` of ragged tokens: `(batch, L + 1, time, dim)`, 0 at padding."""
        lengths = tf.cast(tokens.row_lengths(), tf.int32)
        layers = self._run(tokens.to_tensor(""), lengths)
        return layers, tf.sequence_mask(lengths, tf.shape(layers)[2])

    @functools.cached_property
    def sha256(self):
        """Of the graph and the variables, in hexadecimal digits."""
        return sha256_of(self.directory)

    def _layers(self, tokens, lengths):
        """All layers, without what the module makes of padding, which may be anything."""
        rows, time = tf.unstack(tf.shape(tokens))
        outputs = self._signature(
            tokens=_at_least_one(tokens),
            sequence_len=tf.pad(lengths, [[0, tf.cast(rows < 1, tf.int32)]]),
        )
        vectors, *hidden = (outputs[name] for name in self._outputs)
        layers = tf.stack([tf.concat([vectors, vectors], axis=-1), *hidden], axis=1)
        mask = tf.sequence_mask(lengths, time)[:, tf.newaxis, :, tf.newaxis]
        return tf.stop_gradient(tf.where(mask, layers[:rows, :, :time], 0.0))


def sha256_of(directory):
    """The sha256 of a module's graph and variables, which need not be loaded for it."""
    digest = hashlib.sha256()
    variables = os.path.join(directory, "variables")
    names = sorted(os.listdir(variables)) if os.path.isdir(variables) else []
    for path in ("saved_model.pb", *(os.path.join("variables", name) for name in names)):
        found = files.sha256_of(os.path.join(directory, path))
        digest.update(f"{found} {path.replace(os.sep, '/')}\n".encode())
    return digest.hexdigest()


def _load(directory):
    if not os.path.isfile(os.path.join(directory, "saved_model.pb")):
        raise ValueError(
            f"{directory} must hold a SavedModel. Received a directory without saved_model.pb. "
            f"{MODULE}"
        )
    try:
        return _load_graph(directory)
    except Exception as error:  # Whatever TensorFlow raises on a damaged file.
        raise ValueError(
            f"{directory} must hold a SavedModel that TensorFlow {tf.__version__} can load. "
            f"Received: {_first_line(error)} Download or copy it again."
        ) from error


def _load_graph(directory):
    try:
        return tf.saved_model.load(directory, tags=[])  # as modules of TensorFlow 1 have one
    except (RuntimeError, ValueError) as error:
        if "tags" not in str(error):
            raise
    return tf.saved_model.load(directory)


def _tokens_signature(module, directory):
    signatures = getattr(module, "signatures", {})
    if "tokens" not in signatures:
        raise ValueError(
            f"{directory} must have the signature `tokens`. Received: {sorted(signatures)}. "
            f"{MODULE}"
        )
    signature = signatures["tokens"]
    inputs = set(signature.structured_input_signature[1])
    if inputs != {"tokens", "sequence_len"}:
        raise ValueError(
            f"The signature `tokens` of {directory} must take `tokens` and `sequence_len`. "
            f"Received: {sorted(inputs)}. {MODULE}"
        )
    return signature


def _layer_outputs(signature, directory):
    """Names of the outputs that are mixed, from the token vector upwards."""
    found = signature.structured_outputs
    names = ["word_emb"]
    while f"lstm_outputs{len(names)}" in found:
        names.append(f"lstm_outputs{len(names)}")
    if "word_emb" not in found or len(names) < 3:
        raise ValueError(
            f"The signature `tokens` of {directory} must give `word_emb`, `lstm_outputs1` and "
            f"`lstm_outputs2`. Received: {sorted(found)}. {MODULE}"
        )
    return names


def _output_dim(signature, names, directory):
    sizes = [signature.structured_outputs[name].shape[-1] for name in names]
    if None in sizes or {2 * sizes[0]} != set(sizes[1:]):
        raise ValueError(
            f"The LSTM layers of {directory} must be twice as wide as its token vectors. Received: "
            f"{dict(zip(names, sizes, strict=True))}. {MODULE}"
        )
    return sizes[1]


def _at_least_one(tokens):
    """`tokens` with a row and a position at least: modules fail where there is none."""
    rows, time = tf.unstack(tf.maximum(tf.shape(tokens), 1))
    empty = tf.fill([rows, time], "")
    return tf.cond(tf.size(tokens) > 0, lambda: tokens, lambda: empty)


def _first_line(error):
    return (str(error).splitlines() or [type(error).__name__])[0]
