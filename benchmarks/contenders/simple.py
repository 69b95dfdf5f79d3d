"""simple-elmo with its graph and session kept open, as its documentation tells for many calls.

Needs legacy Keras: the process must be started with TF_USE_LEGACY_KERAS=1.
"""

import simple_elmo
import tensorflow as tf

from contenders.measuring import measure

v1 = tf.compat.v1


def main(job):
    return measure(job, _load)


def _load(job):
    graph = tf.Graph()
    with graph.as_default():
        model = simple_elmo.ElmoModel()
        model.load(job["directory"], max_batch_size=job["batch_size"])
        session = v1.Session(graph=graph)
        with session.as_default():
            model.elmo_sentence_input = simple_elmo.elmo.weight_layers(
                "input", model.sentence_embeddings_op, use_layers="all"
            )
            session.run(v1.global_variables_initializer())

    def embed(sentences):
        with graph.as_default():
            return model.get_elmo_vectors(sentences, warmup=False, layers="all", session=session)

    return embed, lambda layers: layers
