"""Layers of a tiny biLM to export."""

import pytest

from keras_elmo import ELMoEmbedding

OUTPUTS = ("default", "elmo", "word_emb", "lstm_outputs1", "lstm_outputs2")


@pytest.fixture(scope="session")
def make_layer(make_tiny_bilm):
    """A function of options to a layer with all outputs of a module, whose mix has trained."""

    def make(source=None, output=OUTPUTS, **options):
        layer = ELMoEmbedding(source or make_tiny_bilm(), output=output, **options)
        layer.mixes[0].scalars.assign([0.3, -1.0, 1.2])
        layer.mixes[0].gamma.assign(1.7)
        return layer

    return make
