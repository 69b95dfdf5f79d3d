"""The ELMo layers of a Keras model."""

import keras

from keras_elmo.basics.keras_internals import layers_of
from keras_elmo.embedding.elmo_embedding import ELMoEmbedding


def elmo_layers(model: object) -> list[ELMoEmbedding]:
    """The different `ELMoEmbedding` of a model, inner ones included; an empty list where none is.

    Args:
        model: a Keras model, or an `ELMoEmbedding`, which is its own.
    """
    if isinstance(model, ELMoEmbedding):
        return [model]
    layers = layers_of(model) if isinstance(model, keras.Model) else []
    return list(dict.fromkeys(layer for layer in layers if isinstance(layer, ELMoEmbedding)))
