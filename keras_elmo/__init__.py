"""ELMo for Keras 3: a trainable mix of the layers of a frozen bidirectional language model."""

from keras_elmo.bilm import BiLM, BiLMConfig

__version__ = "0.1.0"

__all__ = ["BiLM", "BiLMConfig"]
