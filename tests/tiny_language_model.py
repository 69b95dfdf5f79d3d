"""Tiny language models whose probabilities are known by hand."""

import numpy as np

from keras_elmo.language_model.bidirectional import BidirectionalLanguageModel
from keras_elmo.language_model.softmax.make_softmax import make_softmax
from keras_elmo.text.vocabulary import SPECIALS, Vocabulary

WORDS = ("the", "cat", "sat", "mat", "on", "dog")
# Of <S>, </S>, <UNK> and two words; whatever stands before or after.
UNIGRAMS = {"<S>": 0.1, "</S>": 0.2, "<UNK>": 0.3, "a": 0.25, "b": 0.15}


def seeded_model(bilm, softmax="full", words=WORDS, seed=0):
    """A model with random softmax weights."""
    model = _model(bilm, softmax, words)
    rng = np.random.default_rng(seed)
    for variable in model.softmax.named_variables().values():
        variable.assign(rng.normal(0, 0.5, variable.shape))
    return model


def uniform_model(bilm, softmax="full", size=50):
    """A model that gives each of `size` words, marks included, the same probability."""
    model = _model(bilm, softmax, [f"word{n}" for n in range(size - len(SPECIALS))])
    for variable in model.softmax.named_variables().values():
        variable.assign(np.zeros(variable.shape))
    return model


def unigram_model(bilm):
    """A model that gives every word its probability in `UNIGRAMS`."""
    model = _model(bilm, "full", list(UNIGRAMS)[len(SPECIALS) :])
    model.softmax.W.assign(np.zeros(model.softmax.W.shape))
    model.softmax.b.assign(np.log(list(UNIGRAMS.values())))
    return model


def _model(bilm, softmax, words):
    vocabulary = Vocabulary((*SPECIALS, *words))
    samples = {"n_samples": 5} if softmax == "sampled" else {}
    head = make_softmax(softmax, len(vocabulary), bilm.config.projection_dim, **samples)
    return BidirectionalLanguageModel(bilm, head, vocabulary)
