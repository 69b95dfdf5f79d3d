"""Vectors of many texts at once."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from keras_elmo.basics.by_length import batches_by_length
from keras_elmo.basics.checks import check_count
from keras_elmo.embedding.elmo_embedding import ELMoEmbedding
from keras_elmo.text import inputs as reading

MOST_TEXTS = 512
READ_AT_ONCE = 4096
MOST_BYTES = 32 << 20  # of all layers of a run: what a run takes beside is a small multiple of it.
LONG_TEXTS = 32  # Long texts are run so many together, for the recurrence is slow with few rows,
MOST_BYTES_OF_LONG_TEXTS = 256 << 20  # if they take no more than this.


class Embedder:
    """Embeds any number of texts by an `ELMoEmbedding`, outside of training.

    Texts are run from the longest to the shortest, so that those of one length are together, and
    come back in their own order. The vectors of words are kept from call to call: only words that
    are new go through the character CNN. So an Embedder is for a layer whose weights stay; make
    a new one after training.

    Args:
        layer: ELMoEmbedding with one output, or what it takes as `source`.
        cached_words: how many words' vectors to keep at most.
        **kwargs: Arguments of the ELMoEmbedding that is made of a source (`output="elmo"` ...).

    Raises:
        ValueError: The layer has several outputs, or options are given beside a layer.

    Example:

    >>> Embedder(output="elmo").embed(["free entry now", ""])[0].shape
    (3, 512)
    """

    def __init__(
        self,
        layer: ELMoEmbedding | Any = "english-small",
        cached_words: int = 100_000,
        **kwargs: Any,
    ):
        self.layer = _with_one_output(layer, kwargs)
        cached_words = check_count("cached_words", cached_words)
        self._run = self.layer.source.runner(self._finish, cached_words)

    def embed(self, texts: Any) -> np.ndarray | list[np.ndarray]:
        """Embed texts.

        Args:
            texts: Raw texts or tokens in any container that the layer takes, or a
                tf.data.Dataset of texts, batched or not, labels or not.

        Returns:
            float32 arrays: of `output="default"` one, `(n, D)`; else a list with one for each
            text, `(t, ...)` for its t tokens, or for `output="layers"` `(L+1, t, D)`.
        """
        tokens = self.tokens(texts)
        results: list = [None] * int(tokens.nrows())
        for numbers, outputs in self.runs(tokens):
            for number, output in zip(numbers, outputs, strict=True):
                results[number] = output
        if self.layer.output_names != "default":
            return results
        return np.stack(results) if results else np.zeros((0, self.layer.output_dim), np.float32)

    def tokens(self, texts: Any) -> tf.RaggedTensor:
        """The tokens of texts, RaggedTensor string `(n, None)`, as the layer would read them."""
        layer = self.layer
        if isinstance(texts, tf.data.Dataset):
            parts = reading.batches_of_texts(texts, READ_AT_ONCE)
            texts = tf.concat([tf.constant([], tf.string), *parts], axis=0)
        hold_tokens = reading.are_tokens(texts, layer.inputs)
        batch = reading.read_tokens(texts, layer.tokenizer, hold_tokens)
        if layer.max_tokens is not None:
            reading.tell_cut(batch.tokens, layer.max_tokens)
        return reading.cut(batch, layer.max_tokens).tokens

    def runs(self, tokens: tf.RaggedTensor) -> Iterator[tuple[np.ndarray, list[np.ndarray]]]:
        """Embed tokens run by run, so that not all results need be in memory at once.

        Args:
            tokens: RaggedTensor string `(n, None)`.

        Yields:
            `(numbers, outputs)`: int64 array of rows, and a list of an array for each, as `embed`
            gives it.
        """
        lengths = tokens.row_lengths().numpy()
        for numbers in batches_by_length(lengths, self._most_rows):
            outputs = self._run(tf.gather(tokens, numbers)).numpy()
            yield numbers, self._cut(outputs, lengths[numbers])

    def _finish(self, layers, mask):
        return self.layer.outputs_of(*self.layer.take_off_boundaries(layers, mask))

    def _most_rows(self, longest):
        """How many rows to run together, of the number of tokens of the longest one."""
        size = 4 * self.layer.num_layers * self.layer.output_dim * (longest + 2)
        long = min(LONG_TEXTS, MOST_BYTES_OF_LONG_TEXTS // size)
        return min(MOST_TEXTS, max(long, MOST_BYTES // size))

    def _cut(self, outputs, lengths):
        """Each row's own part of padded outputs."""
        if self.layer.output_names == "default":
            return list(outputs)
        lengths = lengths + (2 if self.layer.keep_boundaries else 0)
        if self.layer.output_names == "layers":
            return [row[:, :length] for row, length in zip(outputs, lengths, strict=True)]
        return [row[:length] for row, length in zip(outputs, lengths, strict=True)]


def _with_one_output(layer, options):
    if not isinstance(layer, ELMoEmbedding):
        layer, options = ELMoEmbedding(layer, **options), {}
    if options or not isinstance(layer.output_names, str) or layer.num_mixes > 1:
        raise ValueError(
            "An Embedder must have an ELMoEmbedding with one output, given as a name and not as a "
            "list, and one mix, and no further options beside a layer. Received: "
            f"output={layer.output_names!r}, "
            f"num_mixes={layer.num_mixes}, options {sorted(options)}."
        )
    return layer
