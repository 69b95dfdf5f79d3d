"""The biLM of a layer as it is exported: native and frozen."""

import contextlib

import tensorflow as tf

from keras_elmo.embedding.find import elmo_layers
from keras_elmo.embedding.sources.make_source import make_source
from keras_elmo.embedding.sources.native import NativeSource
from keras_elmo.embedding.stand_ins import standing_in
from keras_elmo.export.saved_model import graph_of
from keras_elmo.layers.sequences import drop_boundaries


class NativeGraph:
    """What a layer's source gives, by a native and frozen biLM, in one graph for all signatures.

    A TF-Hub module cannot be saved again: its weights are read into a native biLM. Of a biLM that
    trains a frozen copy is made, which spends no work on padding. Ragged tokens `(batch, None)`
    become `(layers, mask)` as of `NativeSource`, without boundaries unless the layer keeps them.
    """

    def __init__(self, layer):
        source = _native_source(layer.source)
        self.bilm = source.bilm

        def run(tokens):
            layers, mask = source(tokens)
            return (layers, mask) if layer.keep_boundaries else drop_boundaries(layers, mask)

        self._run = graph_of(run, tf.RaggedTensorSpec((None, None), tf.string))

    def __call__(self, tokens):
        return self._run(tokens.with_row_splits_dtype(tf.int64))


def _native_source(source):
    if hasattr(source, "to_bilm"):
        source = NativeSource(source.to_bilm())
    # A source from a config has no weights before its first call; this finds them, or raises.
    source(tf.RaggedTensor.from_row_lengths(tf.constant([], tf.string), [0]))
    return make_source(source, fine_tune=False, save_weights=source.save_weights)


@contextlib.contextmanager
def native_layers(model):
    """Within the block and its thread, the ELMoEmbedding layers of a model run their `NativeGraph`.

    Gives a dict of names to all Keras variables that the model can use there.
    """
    stand_ins = {layer: _StandIn(layer) for layer in elmo_layers(model)}
    variables = {f"model/{number}": v for number, v in enumerate(model.variables)}
    for layer, stand_in in stand_ins.items():
        named = stand_in.run.bilm.named_variables()
        variables |= {f"{layer.name}/{key}": variable for key, variable in named.items()}
    with standing_in(stand_ins):
        yield variables


class _StandIn:
    """Runs the `NativeGraph` of a layer."""

    def __init__(self, layer):
        self.layer = layer
        self.run = NativeGraph(layer)

    def outputs(self, tokens, time, training):
        return self.layer.outputs_of(*self.run(tokens), time, training)
