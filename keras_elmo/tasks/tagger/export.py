"""A trained tagger for TensorFlow Serving."""

import contextlib
import os
from typing import Any

import keras
import tensorflow as tf

from keras_elmo.embedding.stand_ins import standing_in
from keras_elmo.export.native import native_layers
from keras_elmo.export.saved_model import SEQUENCE_LEN, TOKENS, graph_of, write_saved_model


def export_tagger(tagger: Any, directory: str | os.PathLike, overwrite: bool = False) -> None:
    """Writes a SavedModel from tokens to a label for each.

    Args:
        tagger: Tagger that knows its classes.
        directory: where to write; made where it does not exist.
        overwrite: whether a SavedModel that is there is replaced.

    Raises:
        FileExistsError: `directory` is not empty and `overwrite` is False, or it is no SavedModel.
    """
    classes = tf.constant([str(label) for label in tagger.classes_])

    def answer(tokens, sequence_len):
        time = tf.shape(tokens)[1]
        inside = tf.sequence_mask(sequence_len, time)
        probabilities = tagger(tf.where(inside, tokens, ""), training=False)[:, :time]
        probabilities = tf.where(inside[..., tf.newaxis], probabilities, 0.0)
        labels = tf.gather(classes, tf.argmax(probabilities, axis=-1))
        shape = (tf.shape(tokens)[0], len(tagger.classes_))
        return {
            "labels": tf.where(inside, labels, ""),
            "probabilities": probabilities,
            "classes": tf.broadcast_to(classes, shape),
        }

    graph = graph_of(answer, TOKENS, SEQUENCE_LEN)
    signatures = {"serving_default": graph, "tokens": graph}
    tables = [tagger.glove.table] if tagger.glove else []
    with native_layers(tagger) as variables, _without_cudnn(tagger.recurrent) as of_lstm:
        variables |= of_lstm
        write_saved_model(directory, signatures, variables, overwrite, tables=tables)


@contextlib.contextmanager
def _without_cudnn(recurrent):
    """Within the block the LSTM is a copy that is traced to operations that every machine has.

    Yields:
        dict of names to the copy's variables.
    """
    if recurrent is None:
        yield {}
        return
    copy = keras.layers.Bidirectional.from_config(recurrent.get_config())
    for lstm in (copy.forward_layer, copy.backward_layer):
        lstm.use_cudnn = False
    copy.build((None, None, recurrent.forward_layer.cell.kernel.shape[0]))
    copy.set_weights(recurrent.get_weights())
    with standing_in({recurrent: copy}):
        yield {f"recurrent/{number}": variable for number, variable in enumerate(copy.variables)}
