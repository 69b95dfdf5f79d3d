"""A trained biLM used as what it was trained to be: a language model."""

import itertools
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from keras_elmo.basics.checks import check_count
from keras_elmo.language_model.bidirectional import BidirectionalLanguageModel
from keras_elmo.language_model.files import load_language_model
from keras_elmo.language_model.perplexity import chunks, pool, sentence_nats
from keras_elmo.language_model.results import Evaluation, SentenceScore, Substitute
from keras_elmo.text.inputs import are_tokens, batches_of_texts, read_tokens
from keras_elmo.text.tokens import as_tokens
from keras_elmo.text.vocabulary import Vocabulary

TEXTS_AT_ONCE = 1024  # of a dataset


class LanguageModel:
    """Perplexities, sentence scores and substitutes by a biLM and its softmax.

    Every sentence is read from zero states, as when it is embedded, and no result depends on its
    neighbours or on how sentences are batched. Texts are one sentence each: what `as_text` takes
    (the biLM's tokenizer splits them), or what `as_tokens` takes, as lists of tokens. An iterator
    of either, such as a generator, and a `tf.data.Dataset` of texts are streamed: they are never
    held as a whole.

    Args:
        model: what pretraining trains; `LanguageModel.load` reads one from files.

    Example:

    >>> language_model = LanguageModel.load("english-small")
    >>> told, jumbled = language_model.score(["She drank the tea.", "The drank tea she."])
    >>> told.combined > jumbled.combined
    True
    >>> len(language_model.predict_words(["She", "drank", "the", "tea", "."], position=3, k=5))
    5
    """

    def __init__(self, model: BidirectionalLanguageModel):
        self._model = model

    @classmethod
    def load(cls, place: str | os.PathLike, dtype: Any = None) -> "LanguageModel":
        """Read a language model from its files.

        Args:
            place: name of a preset, or a directory that pretraining wrote.
            dtype: dtype policy of the layers, or None for Keras' default.

        Raises:
            FileNotFoundError: there is no directory, or it holds a biLM without its softmax, as
                most are published.
            TypeError: `place` is neither a name nor a path.
            ValueError: a file is damaged, or the files do not belong together.
        """
        return cls(load_language_model(place, dtype=dtype))

    @property
    def vocabulary(self) -> Vocabulary:
        """The `Vocabulary` that the model predicts, its three marks included."""
        return self._model.vocabulary

    @property
    def tokenizer(self) -> str:
        """The rule that splits texts: the one that the biLM names, or else `"space"`."""
        return self._model.bilm.tokenizer or "space"

    def perplexity(self, texts: Any) -> Evaluation:
        """Measure the model: e to the mean negative log-likelihood of words and sentence ends.

        Texts without a token are left out, so that the lines of a file and the lines that hold
        something give the same.

        Args:
            texts: texts or lists of tokens, one sentence each.

        Raises:
            ValueError: no text holds a token, or texts are missing (None, NaN).
            TypeError: `texts` holds something else.
        """
        return pool(sentence_nats(self._model, _filled(part)) for part in self._parts(texts))

    def score(self, texts: Any) -> list[SentenceScore]:
        """Log-probability of each sentence.

        Args:
            texts: texts or lists of tokens, one sentence each. One without a token is a sentence
                of no words: its end alone is predicted.

        Returns:
            A score for each, in the order of the texts.

        Raises:
            ValueError: texts are missing (None, NaN).
            TypeError: `texts` holds something else.
        """
        parts = (sentence_nats(self._model, part) for part in self._parts(texts))
        return [score for nats in parts for score in _scores(nats)]

    def predict_words(
        self, tokens: Sequence[str | bytes], position: int, k: int = 10
    ) -> list[Substitute]:
        """The words that fit best at a place, by what stands on both of its sides.

        `log p(w) = log p_forward(w | words before) + log p_backward(w | words after) - log Z`,
        over all words of the vocabulary without `<S>`, `</S>` and `<UNK>`; Z makes their
        probabilities sum to 1. The forward state is the one before the place and the backward
        state the one after it, so the word that stands there has no part in it.

        Args:
            tokens: the words of one sentence.
            position: place of the word to replace, from 0.
            k: how many words to give at most.

        Returns:
            Words, best first; the one that stands there may be among them.

        Raises:
            ValueError: there are no tokens, `position` is not a place in the sentence, or `k` is
                below 1.
            TypeError: `tokens` are not tokens, or `position` is no integer.
        """
        sentence = as_tokens([tokens])
        _check_position(position, int(sentence.row_lengths()[0]))
        k = check_count("k", k)
        nats = self._log_probabilities(sentence, int(position)).sum(axis=0)
        words = self._word_ids()
        nats = nats[words] - np.logaddexp.reduce(nats[words])
        best = np.argsort(-nats, kind="stable")[:k]
        return [Substitute(self.vocabulary.words[words[i]], float(nats[i])) for i in best]

    def _log_probabilities(self, sentence, position):
        """Both directions' log p of every word at a place, float64 `(2, vocabulary)`."""
        layers = self._model.bilm.embed_tokens(sentence).layers
        ahead, behind = tf.split(layers[0, -1], 2, axis=-1)
        # Row 0 is the begin of the sentence, so the word itself is in row position + 1.
        hidden = tf.stack([ahead[position], behind[position + 2]])
        return self._model.softmax.log_probabilities(hidden).numpy().astype(np.float64)

    def _word_ids(self):
        vocabulary = self.vocabulary
        marks = [vocabulary.bos_id, vocabulary.eos_id, vocabulary.unk_id]
        return np.delete(np.arange(len(vocabulary)), marks)

    def _parts(self, texts):
        """The tokens of texts, as RaggedTensors; streams come in parts of bounded size."""
        if isinstance(texts, tf.data.Dataset):
            yield from map(self._tokens, batches_of_texts(texts, TEXTS_AT_ONCE))
        elif isinstance(texts, Iterator):
            first = 0
            for chunk in chunks(texts):
                yield self._tokens(chunk, first)
                first += len(chunk)
        else:
            yield self._tokens(texts)

    def _tokens(self, texts, first=0):
        try:
            hold_tokens = are_tokens(texts, "auto")
            return read_tokens(texts, self.tokenizer, hold_tokens).tokens
        except (TypeError, ValueError) as error:
            if not first:
                raise
            raise type(error)(f"{error} (Position 0 is text {first} of the stream.)") from None

    def __repr__(self):
        return f"<LanguageModel of {len(self.vocabulary)} words>"


def _filled(tokens):
    """The rows that hold a token."""
    return tf.ragged.boolean_mask(tokens, tokens.row_lengths() > 0)


def _scores(nats):
    columns = (-nats.forward, -nats.backward, -(nats.forward + nats.backward) / 2)
    rows = (column.tolist() for column in (*columns, nats.tokens, nats.unknown))
    return itertools.starmap(SentenceScore, zip(*rows, strict=True))


def _check_position(position, length):
    if isinstance(position, bool) or not isinstance(position, (int, np.integer)):
        raise TypeError(
            f"`position` must be an integer, counted from 0. Received: {position!r}. "
            "Give the place of the word to replace."
        )
    if not length:
        raise ValueError("`tokens` must hold at least one token. Received none. Give a sentence.")
    if not 0 <= position < length:
        raise ValueError(
            f"`position` must be from 0 to {length - 1}, a place in a sentence of {length} tokens. "
            f"Received: {position}. Places are counted from 0, punctuation included."
        )
