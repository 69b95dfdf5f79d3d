"""A module in the TF1-Hub format, loaded and called as its users do."""

import numpy as np
import tensorflow as tf

from contenders.measuring import measure

try:
    import tensorflow_hub
except ImportError:  # it needs `pkg_resources`, which newer setuptools lack
    tensorflow_hub = None


def main(job):
    return {**measure(job, _load), "through": _loader()}


def _loader():
    return "hub.load" if tensorflow_hub else "tf.saved_model.load"


def _load(job):
    if tensorflow_hub:
        module = tensorflow_hub.load(job["hub"])
    else:
        module = tf.saved_model.load(job["hub"], tags=[])
    signature = module.signatures["tokens"]

    def embed(sentences):
        lengths = [len(tokens) for tokens in sentences]
        padded = [tokens + [""] * (max(lengths) - len(tokens)) for tokens in sentences]
        outputs = signature(tokens=tf.constant(padded), sequence_len=tf.constant(lengths, tf.int32))
        return {name: np.asarray(output) for name, output in outputs.items()}

    embed.module = module  # whoever lets go of the module loses its variables
    return embed, _layers


def _layers(outputs):
    vectors = outputs["word_emb"]
    layers = [np.concatenate([vectors, vectors], axis=-1)]
    return np.stack([*layers, outputs["lstm_outputs1"], outputs["lstm_outputs2"]], axis=1)
