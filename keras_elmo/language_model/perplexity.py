"""What a bidirectional language model says about whole sentences: nats and perplexities."""

import math
import weakref
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from keras_elmo.basics.by_length import batches_by_length, neighbours
from keras_elmo.language_model.bidirectional import BidirectionalLanguageModel
from keras_elmo.language_model.results import Evaluation
from keras_elmo.text.tokens import as_tokens

TOKENS_AT_ONCE = 2048  # in one step of the model, padding included
LOGITS_AT_ONCE = 2**27  # in one step, both directions, float32: half a gigabyte
HELD_AT_ONCE = 2**18  # of a stream: characters of texts, or tokens

# A graph holds the variables of its model but not the model, so both can go.
_graphs: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


class SentenceNats(NamedTuple):
    """Negative log-likelihoods of n sentences; all fields are arrays `(n,)`.

    Attributes:
        forward: float64, nats of the forward direction, summed over words and sentence end.
        backward: float64, the same of the backward direction.
        tokens: int64, predicted tokens a direction: the words and one end.
        unknown: int64, words that the vocabulary lacks.
    """

    forward: np.ndarray
    backward: np.ndarray
    tokens: np.ndarray
    unknown: np.ndarray


def evaluate(model: BidirectionalLanguageModel, sentences: Iterable[list]) -> Evaluation:
    """Measure a model on held-out sentences; their order and batching do not matter.

    Args:
        model: what to measure.
        sentences: lists of tokens, bytes or str; a stream is never held as a whole.

    Raises:
        ValueError: there are no sentences.
    """
    return pool(sentence_nats(model, as_tokens(chunk)) for chunk in chunks(sentences))


def chunks(rows: Iterable) -> Iterator[list]:
    """Cut a stream of texts or of lists of tokens into lists of bounded size, in order."""
    return neighbours(rows, _size_of, HELD_AT_ONCE)


def _size_of(row):
    return 1 + (len(row) if isinstance(row, (str, bytes, list, tuple)) else 0)


def sentence_nats(model: BidirectionalLanguageModel, tokens: tf.RaggedTensor) -> SentenceNats:
    """Score sentences, those of like length together; gives them in the order of the rows.

    Args:
        model: what to ask.
        tokens: string `(n, None)`; a row without tokens has its end to predict.
    """
    lengths = tokens.row_lengths().numpy().astype(np.int64)
    sums = np.zeros((3, len(lengths)))
    batch_sums = _batch_sums(model)
    most = _tokens_at_once(model)
    for rows in batches_by_length(lengths, lambda longest: most // (longest + 1)):
        sums[:, rows] = batch_sums(tf.gather(tokens, rows)).numpy()
    forward, backward, unknown = sums
    return SentenceNats(forward, backward, lengths + 1, unknown.astype(np.int64))


def pool(parts: Iterable[SentenceNats]) -> Evaluation:
    """Perplexities over all sentences of several parts.

    Raises:
        ValueError: there are no sentences.
    """
    forward, backward, tokens, unknown, sentences = 0.0, 0.0, 0, 0, 0
    for part in parts:
        forward += float(part.forward.sum())
        backward += float(part.backward.sum())
        tokens += int(part.tokens.sum())
        unknown += int(part.unknown.sum())
        sentences += len(part.tokens)
    if not sentences:
        raise ValueError(
            "There must be at least one sentence to measure perplexity on. Received none. "
            "Give text with one sentence a line."
        )
    return Evaluation(
        _perplexity(forward / tokens),
        _perplexity(backward / tokens),
        _perplexity((forward + backward) / (2 * tokens)),
        sentences,
        tokens,
        unknown / max(1, tokens - sentences),
    )


def _perplexity(nats):
    try:
        return math.exp(nats)
    except OverflowError:
        return math.inf


def _batch_sums(model):
    """The graph `_make_graph` of a model, made once however often the model is evaluated."""
    if model not in _graphs:
        _graphs[model] = _make_graph(weakref.proxy(model))
    return _graphs[model]


def _make_graph(model):
    """RaggedTensor `(batch, None)` to float64 `(3, batch)`: nats ahead, behind, unknown words."""

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.string)], autograph=False)
    def batch_sums(tokens):
        nats, mask = model.sentence_losses(tokens)
        unknown = model.vocabulary.ids(tokens.flat_values) == model.vocabulary.unk_id
        counted = tokens.with_flat_values(tf.cast(unknown, tf.float64))
        sums = [tf.cast(tf.where(mask, direction, 0.0), tf.float64) for direction in nats]
        return tf.stack([tf.reduce_sum(row, axis=1) for row in (*sums, counted)])

    return batch_sums


def _tokens_at_once(model):
    logits_a_token = 2 * len(model.vocabulary)
    return min(TOKENS_AT_ONCE, LOGITS_AT_ONCE // logits_a_token)
