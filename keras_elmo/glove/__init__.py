"""Fixed word vectors, such as GloVe's: from the published text files to a Keras layer."""

from keras_elmo.glove.embedding import GloVeEmbedding
from keras_elmo.glove.reading import load_glove
from keras_elmo.glove.word_vectors import WordVectors

__all__ = ["GloVeEmbedding", "WordVectors", "load_glove"]
