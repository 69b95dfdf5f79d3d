"""What a language model answers, and what its numbers mean; imports nothing."""

import math
from typing import NamedTuple

DEFINITION = (
    "e to the mean nats, over the whole vocabulary; each sentence from zero state; predicted are "
    "its words and its end (backward: its begin), never the <S> (backward: </S>) that it is read "
    "from; unknown words count as one word"
)


class Evaluation(NamedTuple):
    """Perplexities: e to the mean negative log-likelihood in nats.

    Each sentence starts from zero states; predicted are its words and its end (for the backward
    direction its begin). Probabilities are normalised over the whole vocabulary, and words outside
    it count as its one unknown word.

    Attributes:
        forward: of the forward direction.
        backward: of the backward direction.
        combined: e to the mean over both directions' nats.
        sentences: sentences read.
        tokens: predicted tokens a direction, sentence ends included.
        unknown_share: share of the words that the vocabulary lacks.
    """

    forward: float
    backward: float
    combined: float
    sentences: int
    tokens: int
    unknown_share: float


class SentenceScore(NamedTuple):
    """Log-probabilities of one sentence, in nats, so never above 0.

    Attributes:
        forward: `log p(w_1 .. w_n </S>)`, each given what stands before it.
        backward: `log p(w_n .. w_1 <S>)`, each given what stands after it.
        combined: the mean of both.
        tokens: predicted tokens a direction: n words and the end of the sentence.
        unknown: words that the vocabulary lacks; each counts as the one unknown word.
    """

    forward: float
    backward: float
    combined: float
    tokens: int
    unknown: int


class Substitute(NamedTuple):
    """A word that could stand at a place.

    Attributes:
        word: str.
        log_probability: float, in nats.
    """

    word: str
    log_probability: float

    @property
    def probability(self):
        """The same as a share of 1, `exp(log_probability)`."""
        return math.exp(self.log_probability)
