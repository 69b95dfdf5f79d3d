"""Held-out perplexity of a bidirectional language model."""

import math
from typing import NamedTuple

import tensorflow as tf

TOKENS_AT_ONCE = 2048


class Evaluation(NamedTuple):
    """Perplexities: e to the mean negative log-likelihood in nats.

    Each sentence starts from zero states; predicted are its words and its end (for the backward
    direction its begin). Probabilities are normalised over the whole vocabulary, and words outside
    it count as its one unknown word.

    Attributes:
        forward: float, of the forward direction.
        backward: float, of the backward direction.
        combined: float, e to the mean over both directions' nats.
        sentences: int, sentences read.
        tokens: int, predicted tokens a direction, sentence ends included.
        unknown_share: float, share of the words that the vocabulary lacks.
    """

    forward: float
    backward: float
    combined: float
    sentences: int
    tokens: int
    unknown_share: float


def evaluate(model, sentences):
    """Measure a model on held-out sentences.

    Args:
        model: BidirectionalLanguageModel.
        sentences: iterable of lists of tokens, bytes or str.

    Returns:
        Evaluation; the order and the batching of sentences do not matter.

    Raises:
        ValueError: there are no sentences.
    """
    sentences = sorted(sentences, key=len)
    if not sentences:
        raise ValueError(
            "`sentences` must hold at least one sentence. Received none. "
            "Give held-out text with one sentence a line."
        )

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.string)])
    def batch_sums(tokens):
        nats, mask = model.sentence_losses(tokens)
        unknown = model.vocabulary.ids(tokens.flat_values) == model.vocabulary.unk_id
        weight = tf.cast(mask, tf.float64)
        return (
            [tf.reduce_sum(tf.cast(direction, tf.float64) * weight) for direction in nats],
            tf.reduce_sum(weight),
            tf.math.count_nonzero(unknown),
        )

    forward, backward, predicted, unknown = 0.0, 0.0, 0, 0
    for batch in _batches(sentences):
        nats, tokens, unknown_words = batch_sums(tf.ragged.constant(batch, dtype=tf.string))
        forward += float(nats[0])
        backward += float(nats[1])
        predicted += int(tokens)
        unknown += int(unknown_words)
    return Evaluation(
        math.exp(forward / predicted),
        math.exp(backward / predicted),
        math.exp((forward + backward) / (2 * predicted)),
        len(sentences),
        predicted,
        unknown / max(1, predicted - len(sentences)),
    )


def _batches(sentences):
    batch = []
    for tokens in sentences:
        if batch and (len(batch) + 1) * len(tokens) > TOKENS_AT_ONCE:
            yield batch
            batch = []
        batch.append(tokens)
    yield batch
