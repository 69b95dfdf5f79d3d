"""Models that read text: `Sequential` and `TextClassifier`."""

from keras_elmo.tasks.classifier import TextClassifier
from keras_elmo.tasks.sequential import Sequential

__all__ = ["Sequential", "TextClassifier"]
