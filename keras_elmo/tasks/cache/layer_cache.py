"""The features of one `ELMoEmbedding`, and what it puts out of them."""

import hashlib
import json
import os
import threading

import keras
import numpy as np
import tensorflow as tf

from keras_elmo.basics.keras_internals import set_mask
from keras_elmo.embedding import outputs as naming
from keras_elmo.embedding.elmo_embedding import ELMoEmbedding
from keras_elmo.embedding.embedder import Embedder
from keras_elmo.layers.sequences import masked_mean
from keras_elmo.tasks.cache.feature_store import FeatureStore
from keras_elmo.tasks.pooling import pool_rows

VERSION = 1  # of what a directory holds


class LayerCache:
    """Stands in for the biLM of a layer: texts that are new are run, their features kept.

    Args:
        layer: ELMoEmbedding.
        directory, dtype, most_bytes: as in `FeatureCache`.
        means_only: whether the model above takes the mean over tokens of the layer's output.

    Attributes:
        store: FeatureStore of rows `(L+1, D)`, one for each token, or one for each text where
            `pooled` is True.
    """

    def __init__(self, layer, directory, dtype, most_bytes, means_only=False):
        self.layer = layer
        self.has_norm = any(mix.layer_norm for mix in layer.mixes)
        between = layer.dropout or self.has_norm or layer.keep_boundaries
        self.pooled = (means_only or layer.output_names == "default") and not between
        self._embedder, self._lock = None, threading.Lock()
        if directory is not None:
            directory = os.path.join(os.fspath(directory), self._key(dtype))
        shape = (layer.num_layers, layer.output_dim)
        self.store = FeatureStore(shape, dtype, most_bytes, directory)

    def _key(self, dtype):
        """A name for the numbers in the store: equal names, equal numbers."""
        layer = self.layer
        parts = [VERSION, layer.source.fingerprint(), layer.tokenizer, layer.keep_boundaries]
        parts += [layer.max_tokens, self.pooled, dtype, layer.source.compute_dtype]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]

    def add(self, texts, verbose):
        """Runs the texts that are not here yet, raw or tokens in any container."""
        with self._lock:
            tokens = self._the_embedder().tokens(texts)
        self.add_tokens(tokens, verbose)

    def add_tokens(self, tokens, verbose):
        """Runs the texts that are not here yet, as RaggedTensor string `(n, None)`."""
        with self._lock:
            embedder = self._the_embedder()
            keys = _keys(tokens).numpy()
            missing = self.store.missing(keys)
            bar = keras.utils.Progbar(len(missing), verbose=verbose, unit_name="text")
            for numbers, arrays in embedder.runs(tf.gather(tokens, missing)):
                rows = [array.swapaxes(0, 1) for array in arrays]
                if self.pooled:
                    rows = [_mean(array) for array in rows]
                lengths = [len(array) for array in rows]
                self.store.put(keys[missing[numbers]], np.concatenate(rows), lengths)
                bar.add(len(numbers))

    def _the_embedder(self):
        if self._embedder is None:
            self._embedder = Embedder(_of_all_layers(self.layer))
        return self._embedder

    def outputs(self, tokens, time, training):
        """What the layer puts out for tokens: as `StandIn.outputs`."""
        layer, rows = self.layer, self.rows(tokens)
        if self.pooled:
            return layer.collect(lambda _, index: self.mixed_rows(rows, index).flat_values)
        if self.has_norm or any(name not in naming.MIXED for name in layer.names()):
            layers = tf.transpose(rows.to_tensor(), [0, 2, 1, 3])
            mask = tf.sequence_mask(rows.row_lengths(), tf.shape(layers)[2])
            return layer.outputs_of(layers, mask, time, training)
        mixed = [self.mixed_rows(rows, index, training) for index in range(layer.num_mixes)]
        return layer.collect(lambda name, index: self._finish(name, mixed[index], time))

    def features(self, tokens, pooling, training):
        """The layer's mix of tokens' rows, pooled as in `SequencePooling`, float32."""
        rows = self.mixed_rows(self.rows(tokens), training=training)
        return pool_rows(rows, "mean" if self.pooled else pooling)

    def mixed_rows(self, rows, index=0, training=None):
        """The mix of tokens' rows, a RaggedTensor float32 `(batch, None, D)`."""
        vectors = self.layer.mixes[index](rows.flat_values[:, :, tf.newaxis])[:, 0]
        return rows.with_flat_values(self.layer.drop(vectors, training=training))

    def rows(self, tokens):
        """The rows of tokens, RaggedTensor float32 `(batch, None, L+1, D)`; new ones are run."""
        keys = _keys(tokens)
        missing = tf.ensure_shape(tf.numpy_function(self.store.missing, [keys], tf.int64), [None])
        nothing = tf.zeros((0, *self.store.row_shape)), tf.zeros((0,), tf.int64)
        run = tf.cond(
            tf.size(missing) > 0, lambda: self._run(tf.gather(tokens, missing)), lambda: nothing
        )
        given = [keys, tf.gather(keys, missing), *run]
        flat, lengths = tf.numpy_function(self._put_and_get, given, [self.store.dtype, tf.int64])
        flat = tf.cast(tf.ensure_shape(flat, (None, *self.store.row_shape)), tf.float32)
        return tf.RaggedTensor.from_row_lengths(flat, tf.ensure_shape(lengths, [None]), False)

    def _run(self, tokens):
        """The rows of all tokens, and how many each text has."""
        layers, mask = self.layer.take_off_boundaries(*self.layer.source(tokens))
        if self.pooled:
            means = [masked_mean(part, mask) for part in tf.unstack(layers, axis=1)]
            means = tf.stack(means, axis=1)
            return means, tf.ones(tf.shape(means)[:1], tf.int64)
        rows = tf.boolean_mask(tf.transpose(layers, [0, 2, 1, 3]), mask)
        return rows, tf.reduce_sum(tf.cast(mask, tf.int64), axis=1)

    def _put_and_get(self, keys, new_keys, new_rows, new_lengths):
        others = {}
        if len(new_keys) and not self.store.put(new_keys, new_rows, new_lengths):
            cut = np.split(new_rows, np.cumsum(new_lengths)[:-1])
            others = dict(zip(new_keys, cut, strict=True))
        return self.store.get(keys, others)

    def _finish(self, name, rows, time):
        boundaries = 2 if self.layer.keep_boundaries else 0
        vectors = rows.to_tensor()
        missing = time + boundaries - tf.shape(vectors)[1]
        vectors = tf.pad(vectors, [[0, 0], [0, missing], [0, 0]])
        mask = tf.sequence_mask(rows.row_lengths(), time + boundaries)
        return self.layer.pool(vectors, mask) if name == "default" else set_mask(vectors, mask)


def _of_all_layers(layer):
    """A layer that shares the source of `layer`, reads as it does, and puts out all layers."""
    return ELMoEmbedding(
        layer.source,
        output="layers",
        tokenizer=layer.tokenizer,
        inputs=layer.inputs,
        keep_boundaries=layer.keep_boundaries,
        max_tokens=layer.max_tokens,
        save_frozen=layer.save_frozen,
    )


def _keys(tokens):
    """A string for each row that no other row of tokens has: lengths of its tokens, and these."""
    lengths = tf.strings.as_string(tf.strings.length(tokens.flat_values))
    lengths = tf.strings.reduce_join(tokens.with_flat_values(lengths), axis=1, separator=",")
    return tf.strings.join([lengths, tf.strings.reduce_join(tokens, axis=1)], ":")


def _mean(rows):
    return rows.mean(axis=0, keepdims=True) if len(rows) else np.zeros((1, *rows.shape[1:]))
