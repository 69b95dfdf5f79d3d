"""Writes a biLM as a module in the TF1-Hub format, as google/elmo/3 was published.

The graph is what such modules run: TensorFlow 1 variables and loops, two signatures, the
characters spelled inside the graph, the character CNN on every position, padding included.
"""

import os

import tensorflow as tf

from keras_elmo.bilm.bilm import BiLM
from keras_elmo.bilm.names import CELL
from keras_elmo.text.characters import boundary_char_ids
from keras_elmo.text.rules import BOW_ID, EOW_ID, PAD_ID

v1 = tf.compat.v1
FORMAT = b"\x08\x03"  # of `tfhub_module.pb`: format 3


def main(job):
    write(BiLM.load(job["directory"]), job["hub"])
    return {}


def write(bilm, directory, scalars=(0.0, 0.0, 0.0), gamma=1.0, spell="bilm/{}".format, **options):
    """Write a biLM of two LSTM layers to a new directory, with the mix that makes `elmo`.

    Switches TensorFlow to old loops. `spell` makes a variable's name of its HDF5 key, and
    `options` go to each variable (`trainable=False`).
    """
    v1.disable_control_flow_v2()
    arrays = bilm.arrays()
    with tf.Graph().as_default(), v1.Session() as session:
        weights = {
            key: v1.get_variable(spell(key), array.shape, use_resource=True, **options)
            for key, array in arrays.items()
        }
        mix = {
            "weights": v1.get_variable("aggregation/weights", 3, use_resource=True, **options),
            "scaling": v1.get_variable("aggregation/scaling", (), use_resource=True, **options),
        }
        signatures = _signatures(bilm.config, weights, mix)
        for key, array in arrays.items():
            weights[key].load(array, session)
        mix["weights"].load(list(scalars), session)
        mix["scaling"].load(gamma, session)
        builder = v1.saved_model.Builder(os.fspath(directory))
        builder.add_meta_graph_and_variables(session, [], signatures)
        builder.add_meta_graph(["train"], signatures)
        builder.save()
    with open(os.path.join(directory, "tfhub_module.pb"), "wb") as file:
        file.write(FORMAT)


def _signatures(config, weights, mix):
    text = v1.placeholder(tf.string, [None], name="text")
    pieces = tf.strings.split(text, " ")
    pieces = tf.ragged.boolean_mask(pieces, tf.not_equal(pieces, ""))
    tokens = v1.placeholder(tf.string, [None, None], name="tokens")
    lengths = v1.placeholder(tf.int32, [None], name="sequence_len")
    make = v1.saved_model.predict_signature_def
    return {
        "default": make(
            {"text": text},
            _outputs(pieces.to_tensor(""), pieces.row_lengths(), config, weights, mix),
        ),
        "tokens": make(
            {"tokens": tokens, "sequence_len": lengths},
            _outputs(tokens, lengths, config, weights, mix),
        ),
    }


def _outputs(tokens, lengths, config, weights, mix):
    lengths = tf.cast(lengths, tf.int32)
    vectors = _token_vectors(_char_ids(tokens, lengths, config), config, weights)
    forward = _stack(vectors, lengths + 2, 0, config, weights)
    backward = _stack(_reverse(vectors, lengths + 2), lengths + 2, 1, config, weights)
    mask = tf.sequence_mask(lengths, tf.shape(tokens)[1], tf.float32)[..., tf.newaxis]
    layers = [
        tf.concat([ahead, _reverse(behind, lengths + 2)], axis=2)[:, 1:-1] * mask
        for ahead, behind in zip(forward, backward, strict=True)
    ]
    word_emb = vectors[:, 1:-1] * mask
    shares = tf.unstack(tf.nn.softmax(mix["weights"]))
    mixed = [tf.concat([word_emb, word_emb], axis=2), *layers]
    elmo = mix["scaling"] * tf.add_n(
        [share * layer for share, layer in zip(shares, mixed, strict=True)]
    )
    return {
        "word_emb": word_emb,
        "lstm_outputs1": layers[0],
        "lstm_outputs2": layers[1],
        "elmo": elmo,
        "default": tf.reduce_sum(elmo, axis=1) / tf.maximum(tf.reduce_sum(mask, axis=1), 1.0),
    }


def _char_ids(tokens, lengths, config):
    """Ids `(batch, time + 2, characters)`: the tokens between the marks of their sentence."""
    characters = config.max_characters_per_token
    begin, end = boundary_char_ids(characters)
    positions = tf.range(tf.shape(tokens)[1] + 2)[:, tf.newaxis]
    last = lengths[:, tf.newaxis, tf.newaxis] + 1
    ids = tf.pad(_spell(tokens, characters), [[0, 0], [1, 1], [0, 0]])
    ids = tf.where(tf.less(positions, last), ids, 0)
    ids = tf.where(tf.equal(positions, last), end, ids)
    return tf.where(tf.equal(positions, 0), begin, ids)


def _spell(tokens, characters):
    """`word_char_ids`, which compares with `==`: that is no operation in a graph of this kind."""
    room = characters - 2
    spelled = tf.cast(tf.io.decode_raw(tokens, tf.uint8, fixed_length=room), tf.int32)
    spelled = tf.pad(spelled, [[0, 0], [0, 0], [1, 1]])
    end = tf.minimum(tf.strings.length(tokens), room)[..., tf.newaxis] + 1
    positions = tf.range(characters)
    spelled = tf.where(tf.equal(positions, 0), BOW_ID, spelled)
    spelled = tf.where(tf.equal(positions, end), EOW_ID, spelled)
    return tf.where(tf.greater(positions, end), PAD_ID, spelled) + 1


def _token_vectors(char_ids, config, weights):
    table = tf.pad(weights["char_embed"], [[1, 0], [0, 0]])
    characters = tf.nn.embedding_lookup(table, char_ids)
    features = []
    for k, (width, _) in enumerate(config.filters):
        x = tf.nn.conv2d(characters, weights[f"CNN/W_cnn_{k}"], strides=1, padding="VALID")
        window = [1, 1, config.max_characters_per_token - width + 1, 1]
        x = tf.nn.max_pool2d(x + weights[f"CNN/b_cnn_{k}"], window, strides=1, padding="VALID")
        features.append(getattr(tf.nn, config.activation)(tf.squeeze(x, axis=2)))
    shape = tf.shape(char_ids)
    x = tf.reshape(tf.concat(features, axis=2), [-1, sum(count for _, count in config.filters)])
    for k in range(config.n_highway):
        gate = tf.sigmoid(_affine(x, weights, f"CNN_high_{k}", "carry"))
        transformed = tf.nn.relu(_affine(x, weights, f"CNN_high_{k}", "transform"))
        x = gate * transformed + (1.0 - gate) * x
    x = _affine(x, weights, "CNN_proj", "proj")
    return tf.reshape(x, [shape[0], shape[1], config.projection_dim])


def _affine(x, weights, place, name):
    return tf.matmul(x, weights[f"{place}/W_{name}"]) + weights[f"{place}/b_{name}"]


def _stack(x, lengths, direction, config, weights):
    """The outputs of both LSTM layers of a direction."""
    outputs = []
    for layer in (0, 1):
        cell = LSTMCell(CELL.format(direction=direction, layer=layer), config, weights)
        y, _ = v1.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32)
        x = y + x if layer and config.use_skip_connections else y
        outputs.append(x)
    return outputs


def _reverse(x, lengths):
    return tf.reverse_sequence(x, lengths, seq_axis=1, batch_axis=0)


class LSTMCell:
    """TensorFlow 1's cell with projection and clips, which itself needs the legacy Keras."""

    def __init__(self, name, config, weights):
        self.kernel = tf.convert_to_tensor(weights[f"{name}/W_0"])
        self.bias = tf.convert_to_tensor(weights[f"{name}/B"])
        self.projection = tf.convert_to_tensor(weights[f"{name}/W_P_0"])
        self.config = config
        self.state_size = (config.lstm_dim, config.projection_dim)
        self.output_size = config.projection_dim

    def zero_state(self, batch_size, dtype):
        return tuple(tf.zeros([batch_size, size], dtype) for size in self.state_size)

    def __call__(self, x, state):
        c, m = state
        gates = tf.nn.bias_add(tf.matmul(tf.concat([x, m], axis=1), self.kernel), self.bias)
        i, j, f, o = tf.split(gates, 4, axis=1)
        c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(j)
        c = _clip(c, self.config.cell_clip)
        m = _clip(tf.matmul(tf.sigmoid(o) * tf.tanh(c), self.projection), self.config.proj_clip)
        return m, (c, m)


def _clip(x, bound):
    return x if bound is None else tf.clip_by_value(x, -bound, bound)
