"""Texts to tokens, character ids and word ids: TensorFlow ops, no Keras layer."""

from keras_elmo.text.characters import boundary_char_ids, word_char_ids
from keras_elmo.text.containers import as_text
from keras_elmo.text.tokenize import TOKENIZERS, tokenize
from keras_elmo.text.tokens import as_tokens
from keras_elmo.text.vocabulary import Vocabulary

__all__ = [
    "TOKENIZERS",
    "Vocabulary",
    "as_text",
    "as_tokens",
    "boundary_char_ids",
    "tokenize",
    "word_char_ids",
]
