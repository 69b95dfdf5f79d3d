import numpy as np
import pytest

from keras_elmo.language_model.bidirectional import BidirectionalLanguageModel
from keras_elmo.language_model.softmax.make_softmax import make_softmax
from keras_elmo.text.vocabulary import Vocabulary

WORDS = ("the", "cat", "sat", "mat", "on", "dog")


@pytest.fixture
def make_model(make_tiny_bilm):
    """A language model over WORDS with seeded weights."""

    def make(softmax="full", vocabulary=None, seed=0, **kwargs):
        vocabulary = vocabulary or Vocabulary(("<S>", "</S>", "<UNK>", *WORDS))
        bilm = make_tiny_bilm(seed=seed, **{"frozen": False, **kwargs})
        samples = {"n_samples": 5} if softmax == "sampled" else {}
        head = make_softmax(softmax, len(vocabulary), bilm.config.projection_dim, **samples)
        rng = np.random.default_rng(seed)
        for variable in head.named_variables().values():
            variable.assign(rng.normal(0, 0.5, variable.shape))
        return BidirectionalLanguageModel(bilm, head, vocabulary)

    return make
