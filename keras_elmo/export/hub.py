"""An ELMo module as TF-Hub has them."""

import os

import keras
import tensorflow as tf

from keras_elmo.bilm.bilm import BiLM
from keras_elmo.embedding import outputs as naming
from keras_elmo.embedding.elmo_embedding import ELMoEmbedding
from keras_elmo.embedding.find import elmo_layers
from keras_elmo.embedding.sources.hub_checkpoint import SCALING, TOKENIZER, WEIGHTS
from keras_elmo.export.native import NativeGraph
from keras_elmo.export.saved_model import SEQUENCE_LEN, TEXT, TOKENS, graph_of, write_saved_model
from keras_elmo.layers.sequences import masked_mean
from keras_elmo.text import inputs as reading


def export_hub(
    model: ELMoEmbedding | keras.Model | BiLM,
    directory: str | os.PathLike,
    overwrite: bool = False,
) -> None:
    """Writes a SavedModel with the signatures and outputs of TF-Hub's `elmo` module.

    It loads with `tf.saved_model.load`, `hub.load`, `hub.KerasLayer` and TensorFlow Serving, in a
    process that does not have this package, and gives what the live layer gives.

    Signatures `default` (and `serving_default`, the same): input `text`, string `(batch,)`; and
    `tokens`: inputs `tokens`, string `(batch, time)`, and `sequence_len`, int32 `(batch,)`. Outputs
    for dimension D, projection P = D/2, L LSTM layers, float32, 0 at padding: `word_emb`
    `(batch, time, P)`; `lstm_outputs1` to `lstm_outputsL` and `elmo`, the mix, `(batch, time, D)`;
    `default`, the mean of `elmo` over the words, `(batch, D)`. The loaded object called with texts
    gives `default`. Nothing in it trains.

    The layer's mix, `tokenizer` and `max_tokens` hold; its dropout is off. A layer
    that puts out no mix gets the one that it would start with.

    Args:
        model: ELMoEmbedding, Keras model with exactly one among its layers, or BiLM. A BiLM gets
            equal layer weights, gamma 1, and the tokenizer that it was trained with, or "space".
        directory: where to write; made where it does not exist.
        overwrite: whether a SavedModel that is there is replaced.

    Raises:
        TypeError: `model` is none of these.
        ValueError: the model has no ELMoEmbedding or several; the layer has several mixes, or
            keeps boundaries.
        FileExistsError: `directory` is not empty and `overwrite` is False, or it is no SavedModel.

    Example:

    ```python
    layer = keras_elmo.ELMoEmbedding()
    export_hub(layer, "elmo-module")
    module = tf.saved_model.load("elmo-module")
    module(tf.constant(["free entry now", ""])).shape                       # (2, 512)
    module.signatures["default"](tf.constant(["free entry now"]))["elmo"]   # (1, 3, 512)
    ```
    """
    layer = _layer_of(model)
    _check_layer(layer)
    outputs = _Outputs(layer)
    text = graph_of(lambda text: outputs(text, hold_tokens=False), TEXT)
    tokens = graph_of(
        lambda tokens, sequence_len: outputs(
            {"tokens": tokens, "sequence_len": sequence_len}, hold_tokens=True
        ),
        TOKENS,
        SEQUENCE_LEN,
    )
    write_saved_model(
        directory,
        {"default": text, "serving_default": text, "tokens": tokens},
        outputs.variables,
        overwrite,
        call=graph_of(lambda text_: text(text_)["default"], TEXT),
        notes={TOKENIZER: layer.tokenizer},
    )


class _Outputs:
    """All outputs of the module, by name, of an ELMoEmbedding."""

    def __init__(self, layer):
        self.layer = layer
        self.run = NativeGraph(layer)
        self.mix = layer.mix
        if not self.mix.built:
            self.mix.build((None, layer.num_layers, None, layer.output_dim))
        self.unmixed = ["word_emb", *(f"lstm_outputs{k}" for k in range(1, layer.num_layers))]
        self.variables = {f"bilm/{key}": v for key, v in self.run.bilm.named_variables().items()}
        self.variables[SCALING] = self.mix.gamma
        if self.mix.scalars is not None:
            self.variables[WEIGHTS] = self.mix.scalars

    def __call__(self, inputs, hold_tokens):
        batch = reading.read_tokens(inputs, self.layer.tokenizer, hold_tokens)
        batch = reading.cut(batch, self.layer.max_tokens)
        layers, mask = naming.pad_time(*self.run(batch.tokens), batch.time)
        elmo = self.mix(layers, mask=mask)
        outputs = {name: naming.unmixed_output(name, layers) for name in self.unmixed}
        outputs |= {"elmo": elmo, "default": masked_mean(elmo, mask)}
        return {name: tf.stop_gradient(output) for name, output in outputs.items()}


def _layer_of(model):
    if isinstance(model, BiLM):
        return ELMoEmbedding(model)
    found = elmo_layers(model)
    if len(found) == 1:
        return found[0]
    names = [layer.name for layer in found]
    what = f"with {len(found)} of them, {names}" if found else "without one"
    error = ValueError if hasattr(model, "layers") or found else TypeError
    raise error(
        "`model` must be an ELMoEmbedding, a BiLM, or a Keras model with exactly one ELMoEmbedding "
        f"among its layers. Received: {type(model).__name__} {what}. Give one of "
        "these; of several layers, the layer itself."
    )


def _check_layer(layer):
    if layer.num_mixes > 1:
        raise ValueError(
            "The layer must have one mix to be exported. Received: "
            f"num_mixes={layer.num_mixes}. Export one of them: `ELMoEmbedding(layer.source, "
            "mix=layer.mixes[k])`, with the layer's other options."
        )
    if layer.keep_boundaries:
        raise ValueError(
            "The layer must leave out sentence boundaries, as TF-Hub's outputs do. Received: "
            "keep_boundaries=True. Make one like it with `keep_boundaries=False`, and give it the "
            "layer's weights with `set_weights`."
        )
