"""A trained classifier for TensorFlow Serving."""

import os
from typing import Any

import tensorflow as tf

from keras_elmo.export.native import native_layers
from keras_elmo.export.saved_model import SEQUENCE_LEN, TEXT, TOKENS, graph_of, write_saved_model


def export_classifier(
    classifier: Any, directory: str | os.PathLike, overwrite: bool = False
) -> None:
    """Writes a SavedModel from texts to labels and probabilities.

    Args:
        classifier: TextClassifier that knows its classes. Of one with `inputs="tokens"`,
            `serving_default` takes tokens; else it takes texts, and unless `inputs` is "text"
            there is a second signature `tokens`.
        directory: where to write; made where it does not exist.
        overwrite: whether a SavedModel that is there is replaced.

    Raises:
        FileExistsError: `directory` is not empty and `overwrite` is False, or it is no SavedModel.
    """
    answer = _Answer(classifier)
    text = graph_of(answer, TEXT)
    tokens = graph_of(
        lambda tokens, sequence_len: answer({"tokens": tokens, "sequence_len": sequence_len}),
        TOKENS,
        SEQUENCE_LEN,
    )
    signatures = {
        "text": {"serving_default": text},
        "auto": {"serving_default": text, "tokens": tokens},
        "tokens": {"serving_default": tokens, "tokens": tokens},
    }
    with native_layers(classifier) as variables:
        kind = classifier.embedding.inputs
        write_saved_model(directory, signatures[kind], variables, overwrite)


class _Answer:
    """What is served: label, probabilities, and the classes that these belong to.

    Every output has the batch first: TensorFlow Serving cuts outputs into one row a text. Labels
    are strings, whatever they were in training.
    """

    def __init__(self, classifier):
        self.classifier = classifier
        self.classes = [str(label) for label in classifier.classes_]

    def __call__(self, inputs):
        probabilities = self.classifier(inputs, training=False)
        if len(self.classes) == 2:
            probabilities = tf.concat([1.0 - probabilities, probabilities], axis=1)
        classes = tf.constant(self.classes)
        return {
            "label": tf.gather(classes, tf.argmax(probabilities, axis=1)),
            "probabilities": probabilities,
            "classes": tf.broadcast_to(classes, tf.shape(probabilities)),
        }
