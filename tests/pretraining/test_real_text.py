"""Pretraining on real sentences: a model that knows more than the words' frequencies."""

import collections
import itertools
import math

import keras
import numpy as np
import pytest
from tiny_text import write_lines

from keras_elmo.bilm.bilm import BiLM
from keras_elmo.bilm.config import BiLMConfig
from keras_elmo.language_model.bidirectional import BidirectionalLanguageModel
from keras_elmo.language_model.perplexity import evaluate
from keras_elmo.language_model.softmax.make_softmax import make_softmax
from keras_elmo.pretraining.corpus import ShuffledLines, count_corpus, read_lines, read_sentences
from keras_elmo.pretraining.options import PretrainingOptions
from keras_elmo.pretraining.trainer import Trainer
from keras_elmo.text.vocabulary import Vocabulary

pytestmark = pytest.mark.end_to_end
STEPS = 600
CONFIG = BiLMConfig(
    lstm_dim=96, projection_dim=32, n_layers=2, cell_clip=3.0, proj_clip=3.0,
    use_skip_connections=True, char_dim=8, filters=((1, 16), (2, 16), (3, 32)), n_highway=1,
    activation="relu", tokenizer="space",
)  # fmt: skip


def unigram_perplexity(vocabulary, counts, held_out):
    """Of held-out words and sentence ends, by their share of the training text plus one."""
    known = collections.Counter({"</S>": counts.sentences})
    for word, n in counts.words.items():
        known[word if word in vocabulary else "<UNK>"] += n
    total = sum(known.values()) + len(vocabulary)
    nats = []
    for sentence in held_out:
        for word in [*(token.decode() for token in sentence), "</S>"]:
            name = word if word in vocabulary else "<UNK>"
            nats.append(-math.log((known[name] + 1) / total))
    return math.exp(np.mean(nats))


@pytest.mark.parametrize("resets", ["sentence", "random"])
def test_both_directions_fall_below_unigrams_on_held_out_text(shared, tmp_path, resets):
    corpus = shared / "corpus"
    lines = itertools.islice(read_lines([corpus / "train-07.txt.gz"]), 6000)
    paths = (write_lines(tmp_path / "train.txt", lines),)
    held_out = list(itertools.islice(read_sentences([corpus / "valid.txt.gz"], "space"), 300))
    counts = count_corpus(paths, "space")
    vocabulary = Vocabulary.build(counts.words, max_size=2000)
    keras.utils.set_random_seed(1)
    model = BidirectionalLanguageModel(
        BiLM(CONFIG, frozen=False), make_softmax("adaptive", len(vocabulary), 32), vocabulary
    )
    rate = {"reset_rate": 0.2} if resets == "random" else {}
    options = PretrainingOptions(
        steps=STEPS, batch_size=64, window=10, learning_rate=5e-3, resets=resets, **rate
    )
    trainer = Trainer(model, options, ShuffledLines(paths, counts.lines, 1), "space")
    unigrams = unigram_perplexity(vocabulary, counts, held_out)
    for _ in range(STEPS):
        trainer.step()
    found = evaluate(model, held_out)
    assert found.forward < 0.9 * unigrams
    assert found.backward < 0.9 * unigrams
