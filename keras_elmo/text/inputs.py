"""From what `ELMoEmbedding` is called with to tokens."""

import sys
import warnings
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from keras_elmo.text.containers import as_text
from keras_elmo.text.tokenize import tokenize
from keras_elmo.text.tokens import as_tokens

EXPECTED = {
    "auto": "raw texts of shape (batch,) or (batch, 1), or tokens of shape (batch, time)",
    "text": "raw texts of shape (batch,) or (batch, 1)",
    "tokens": "tokens of shape (batch, time)",
}
INPUTS = tuple(EXPECTED)


class TokenBatch(NamedTuple):
    """Tokens of a batch and the time axis that the outputs have.

    Attributes:
        tokens: RaggedTensor string `(batch, None)`.
        time: Length of the time axis, at least 1: of padded tokens that of their padding, else the
            longest row's. A number where it is known when the graph is made, else an int32 tensor.
    """

    tokens: tf.RaggedTensor
    time: int | tf.Tensor


def read_tokens(inputs: Any, tokenizer: str = "space", hold_tokens: bool = True) -> TokenBatch:
    """Tokens of any input.

    Args:
        inputs: raw texts or tokens, as tensors or in Python containers.
        tokenizer: name of the rule that splits raw texts.
        hold_tokens: whether `inputs` are tokens, as `are_tokens` tells.
    """
    if not hold_tokens:
        if tf.is_tensor(inputs) and inputs.shape.rank == 2:
            inputs = tf.ensure_shape(inputs, (None, 1))[:, 0]
        return batch_of(tokenize(as_text(inputs), tokenizer))
    padded, sequence_len = inputs, None
    if isinstance(inputs, dict):
        padded, sequence_len = inputs["tokens"], inputs.get("sequence_len")
    tokens = as_tokens(padded, sequence_len)
    is_padded = len(getattr(padded, "shape", ())) == 2 and not isinstance(padded, tf.RaggedTensor)
    return TokenBatch(tokens, _width(padded)) if is_padded else batch_of(tokens)


def batch_of(tokens: tf.RaggedTensor) -> TokenBatch:
    """Tokens `(batch, None)` without padding, with the longest row's length as time axis."""
    lengths = tf.cast(tokens.row_lengths(), tf.int32)
    return TokenBatch(tokens, tf.maximum(tf.reduce_max(tf.concat([lengths, [1]], axis=0)), 1))


def batches_of_texts(dataset: tf.data.Dataset, size: int) -> tf.data.Dataset:
    """The texts of a dataset, batched or not, without labels, in batches `(size,)`."""
    texts = as_text(dataset).map(lambda text, *_: text)
    if texts.element_spec.shape.rank:
        texts = texts.unbatch()
    return texts.batch(size)


def cut(batch: TokenBatch, max_tokens: int | None) -> TokenBatch:
    """Keeps the first `max_tokens` tokens of each row; of None, all."""
    if max_tokens is None:
        return batch
    time = batch.time
    if isinstance(time, int):
        time = min(time, max_tokens)
    else:
        time = tf.minimum(time, max_tokens)
    return TokenBatch(batch.tokens[:, :max_tokens], time)


def tell_cut(tokens: tf.RaggedTensor, max_tokens: int) -> None:
    """Tells the user that a row is longer than `max_tokens`."""
    message = (
        f"A sentence has more tokens than `max_tokens={max_tokens}` allows; the rest of it is left "
        "out. Raise `max_tokens`, or set it to None to keep all tokens."
    )
    is_cut = tf.reduce_any(tokens.row_lengths() > max_tokens)
    if not tf.executing_eagerly():
        tf.cond(is_cut, lambda: _print(message), lambda: False)
    elif is_cut:
        warnings.warn(message, stacklevel=2)


def _print(message):
    with tf.control_dependencies([tf.print(message, output_stream=sys.stderr)]):
        return tf.constant(False)


def are_tokens(inputs: Any, kind: str = "auto", declared: bool | None = None) -> bool:
    """Whether `inputs` are tokens rather than raw texts; raises where they can be neither.

    Args:
        inputs: what a layer or model is called with, `keras.KerasTensor` included.
        kind: one of `INPUTS`. For "auto", dicts, ragged tensors, and lists, Series and arrays of
            rows are tokens; arrays and tensors of rank 2 are what is `declared`. All else is
            texts, data frames too.
        declared: whether dense inputs of rank 2 are tokens; of None, all are but one column.
    """
    is_dict = isinstance(inputs, dict)
    if is_dict:
        _check_dict(inputs)
        inputs = inputs["tokens"]
    _check_dtype(inputs)
    rank, last = _rank_and_last(inputs)
    is_frame = hasattr(inputs, "columns")
    can_be_text = not is_dict and (rank == 1 or is_frame or (rank == 2 and last in (1, None)))
    can_be_tokens = rank == 2
    possible = {
        "text": can_be_text,
        "tokens": can_be_tokens,
        "auto": can_be_text or can_be_tokens,
    }
    if not possible[kind]:
        raise ValueError(
            f"With `inputs={kind!r}` the layer takes {EXPECTED[kind]}. "
            f"Received: shape={getattr(inputs, 'shape', None)}. Flatten texts to one dimension, "
            "and give one row of tokens for each sentence."
        )
    if kind != "auto" or is_dict or is_frame or rank != 2:
        return kind == "tokens" or is_dict
    return last == "ragged" or _are_declared(declared, last)


def _are_declared(declared, last):
    if declared is False and last not in (1, None):
        raise ValueError(
            "A model whose input is raw texts of shape (batch, 1) must be given these. Received: "
            f"tokens (batch, time), last dimension {last}. Make the layer with `inputs='tokens'`, "
            'or give the model a `keras.Input((None,), dtype="string")`.'
        )
    return last != 1 if declared is None else declared


def static_time(inputs, hold_tokens):
    """The time axis of the outputs where it is known in advance, else None."""
    if not hold_tokens:
        return None
    inputs = tokens_of(inputs)
    return None if getattr(inputs, "ragged", False) else inputs.shape[1] or None


def tokens_of(inputs: Any) -> Any:
    """What is called with, or the tokens where it is a dict."""
    return inputs["tokens"] if isinstance(inputs, dict) else inputs


def _rank_and_last(inputs):
    """Rank and last dimension: None where it is not known, "ragged" where rows differ."""
    if _hold_rows(inputs):
        return 2, "ragged"
    shape = getattr(inputs, "shape", None)
    if shape is None or isinstance(inputs, (list, tuple)):
        return 1, None
    rank = shape.rank if isinstance(shape, tf.TensorShape) else len(shape)
    if isinstance(inputs, tf.RaggedTensor):
        return rank, "ragged"
    return rank, shape[-1] if rank else None


def _hold_rows(inputs):
    """Whether a list, or a column of Python objects, holds rows rather than strings."""
    dtype = getattr(inputs, "dtype", None)
    is_column = isinstance(dtype, np.dtype) and dtype.kind == "O" and len(inputs.shape) == 1
    if not is_column and not isinstance(inputs, (list, tuple)):
        return False
    return any(isinstance(r, (list, tuple)) or len(getattr(r, "shape", ())) == 1 for r in inputs)


def _check_dtype(inputs):
    # Keras' symbols name their dtype.
    is_tensor = tf.is_tensor(inputs) or isinstance(getattr(inputs, "dtype", None), str)
    if is_tensor and inputs.dtype not in (tf.string, "string"):
        name = getattr(inputs.dtype, "name", inputs.dtype)
        raise TypeError(
            "`tokens` must be a string tensor of shape (batch, time), raw texts one of shape "
            f"(batch,). Received: dtype={name}, shape={tuple(inputs.shape)}. Split raw sentences "
            'into tokens first, or give the texts themselves; a `keras.Input` needs dtype="string".'
        )


def _check_dict(inputs):
    if "tokens" not in inputs or not set(inputs) <= {"tokens", "sequence_len"}:
        raise ValueError(
            "A dict of inputs must have the key 'tokens' and may have 'sequence_len'. "
            f"Received: {sorted(map(str, inputs))}. Give raw texts as a tensor, not in a dict."
        )


def _width(padded):
    """Width of padded tokens, at least 1."""
    width = padded.shape[1]
    return tf.maximum(tf.shape(padded)[1], 1) if width is None else max(int(width), 1)
