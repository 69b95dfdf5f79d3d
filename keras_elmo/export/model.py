"""Any Keras model that reads texts, for TensorFlow Serving."""

import keras
import tensorflow as tf

from keras_elmo.export.native import native_layers
from keras_elmo.export.saved_model import TEXT, graph_of, write_saved_model


def export_model(model, directory, overwrite=False):
    """Writes a SavedModel from texts to the model's outputs.

    The one signature, `serving_default`, has the input `text`, string `(batch,)`, or of a model
    that was built on tokens `tokens`, string `(batch, time)`, padded with "" at the end; and the
    output `output`, or where the model gives a dict, its keys.

    Args:
        model: Keras model with one input of strings, built.
        directory: where to write; made where it does not exist.
        overwrite: bool, whether a SavedModel that is there is replaced.

    Raises:
        ValueError: the model is not built, or its input is another.
        FileExistsError: `directory` is not empty and `overwrite` is False, or it is no SavedModel.
    """
    shape = _input_shape(model)
    is_text = len(shape) == 1 or (shape[1] == 1 and not _takes_tokens(model))
    spec = TEXT if is_text else tf.TensorSpec(shape, tf.string, name="tokens")

    def answer(strings):
        if is_text and len(shape) == 2:
            strings = strings[:, tf.newaxis]
        outputs = model(strings, training=False)
        return outputs if isinstance(outputs, dict) else {"output": outputs}

    with native_layers(model) as variables:
        write_saved_model(
            directory, {"serving_default": graph_of(answer, spec)}, variables, overwrite
        )


def _input_shape(model):
    inputs = keras.tree.flatten(model.inputs) if model.built else []
    if len(inputs) != 1 or inputs[0].dtype != "string":
        found = f"{len(inputs)} inputs" if model.built else "a model that is not built"
        raise ValueError(
            f"`model` must have one input of strings. Received: {found}. Train it or call it on a "
            "text first; export other models with `keras.Model.export`."
        )
    return inputs[0].shape


def _takes_tokens(model):
    return any(getattr(layer, "inputs", None) == "tokens" for layer in model.layers)
