"""ELMo for Keras 3: a trainable mix of the layers of a frozen bidirectional language model.

Importing this package registers its classes with Keras, so that saved models load.
"""

from keras_elmo.bilm import BiLM, BiLMConfig
from keras_elmo.corpora import embed_corpus
from keras_elmo.datasets import load_sms_sample
from keras_elmo.embedder import Embedder
from keras_elmo.embedding import ELMoEmbedding
from keras_elmo.export import export_hub
from keras_elmo.glove import GloVeEmbedding, WordVectors, load_glove
from keras_elmo.language_model import LanguageModel
from keras_elmo.projector import export_projector
from keras_elmo.tasks import (
    FeatureCache,
    MixHistory,
    Sequential,
    Tagger,
    TextClassifier,
    read_conll,
    score_spans,
)
from keras_elmo.text import Vocabulary, as_text, as_tokens, tokenize

__version__ = "0.1.0"

__all__ = [
    "BiLM",
    "BiLMConfig",
    "ELMoEmbedding",
    "Embedder",
    "FeatureCache",
    "GloVeEmbedding",
    "LanguageModel",
    "MixHistory",
    "Sequential",
    "Tagger",
    "TextClassifier",
    "Vocabulary",
    "WordVectors",
    "__version__",
    "as_text",
    "as_tokens",
    "embed_corpus",
    "export_hub",
    "export_projector",
    "load_glove",
    "load_sms_sample",
    "read_conll",
    "score_spans",
    "tokenize",
]
