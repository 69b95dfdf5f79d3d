"""Models that read text and what trains them, and what their data and scores need."""

from keras_elmo.tasks.classifier import TextClassifier
from keras_elmo.tasks.conll import TaggedSentences, read_conll
from keras_elmo.tasks.feature_cache import FeatureCache
from keras_elmo.tasks.mix_history import MixHistory
from keras_elmo.tasks.sequential import Sequential
from keras_elmo.tasks.spans import SpanScores, score_spans, score_spans_by_type
from keras_elmo.tasks.tagger import Tagger
from keras_elmo.tasks.token_accuracy import TokenAccuracy

__all__ = [
    "FeatureCache",
    "MixHistory",
    "Sequential",
    "SpanScores",
    "TaggedSentences",
    "Tagger",
    "TextClassifier",
    "TokenAccuracy",
    "read_conll",
    "score_spans",
    "score_spans_by_type",
]
