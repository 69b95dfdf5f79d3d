"""Models that read text, and what trains them: `Sequential`, `TextClassifier`, `FeatureCache`."""

from keras_elmo.tasks.classifier import TextClassifier
from keras_elmo.tasks.feature_cache import FeatureCache
from keras_elmo.tasks.sequential import Sequential

__all__ = ["FeatureCache", "Sequential", "TextClassifier"]
