"""The biLM: its shape, its files, its computation."""

from keras_elmo.bilm.bilm import BiLM, BiLMOutput
from keras_elmo.bilm.config import BiLMConfig

__all__ = ["BiLM", "BiLMConfig", "BiLMOutput"]
