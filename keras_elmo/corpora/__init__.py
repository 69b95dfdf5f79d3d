"""Whole corpora: text files in, a file of vectors out, in memory that does not grow with them."""

from keras_elmo.corpora.embedding import embed_corpus

__all__ = ["embed_corpus"]
