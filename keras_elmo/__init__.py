"""ELMo for Keras 3: a trainable mix of the layers of a frozen bidirectional language model.

Importing this package registers its classes with Keras, so that saved models load.
"""

import sys
import typing

__version__ = "0.2.0"


def _does_a_command_parse() -> bool:
    """Whether this is imported for a command that has still to read its arguments.

    It answers without TensorFlow what needs none, and loads all of this before it works. While
    Python looks for what `-m` names, `-m` stands in the program's place.
    """
    sought = sys.orig_argv[-len(sys.argv) :][:1] if sys.argv[:1] == ["-m"] else []
    launcher = sys.modules.get("keras_elmo_launcher")
    return sought in (["keras_elmo"], ["-mkeras_elmo"]) or getattr(launcher, "parses", False)


if typing.TYPE_CHECKING or not _does_a_command_parse():
    from keras_elmo.bilm.bilm import BiLM
    from keras_elmo.bilm.config import BiLMConfig
    from keras_elmo.corpora.embed_corpus import embed_corpus
    from keras_elmo.corpora.projector import export_projector
    from keras_elmo.embedding.elmo_embedding import ELMoEmbedding
    from keras_elmo.embedding.embedder import Embedder
    from keras_elmo.embedding.glove_embedding import GloVeEmbedding
    from keras_elmo.embedding.load_glove import load_glove
    from keras_elmo.embedding.word_vectors import WordVectors
    from keras_elmo.export.hub import export_hub
    from keras_elmo.language_model.language_model import LanguageModel
    from keras_elmo.layers.scalar_mix import ScalarMix
    from keras_elmo.pretraining.pretrain import pretrain
    from keras_elmo.tasks.cache.feature_cache import FeatureCache
    from keras_elmo.tasks.classifier.text_classifier import TextClassifier
    from keras_elmo.tasks.mix_history import MixHistory
    from keras_elmo.tasks.sequential import Sequential
    from keras_elmo.tasks.sms_sample import load_sms_sample
    from keras_elmo.tasks.tagger.conll import read_conll
    from keras_elmo.tasks.tagger.spans import score_spans
    from keras_elmo.tasks.tagger.tagger import Tagger
    from keras_elmo.text.containers import as_text
    from keras_elmo.text.tokenize import tokenize
    from keras_elmo.text.tokens import as_tokens
    from keras_elmo.text.vocabulary import Vocabulary

__all__ = [
    "BiLM",
    "BiLMConfig",
    "ELMoEmbedding",
    "Embedder",
    "FeatureCache",
    "GloVeEmbedding",
    "LanguageModel",
    "MixHistory",
    "ScalarMix",
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
    "pretrain",
    "read_conll",
    "score_spans",
    "tokenize",
]
