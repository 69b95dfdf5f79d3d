"""Training on a frozen biLM's features, which are computed once."""

import contextlib
import hashlib
import json
import os

import keras
import numpy as np
import tensorflow as tf

from keras_elmo.basics.checks import check_choice, check_count
from keras_elmo.basics.keras_internals import set_mask
from keras_elmo.embedding import outputs as naming
from keras_elmo.embedding.elmo_embedding import ELMoEmbedding
from keras_elmo.embedding.embedder import Embedder
from keras_elmo.embedding.find import elmo_layers
from keras_elmo.layers.sequences import masked_mean
from keras_elmo.tasks.cache.feature_store import FeatureStore
from keras_elmo.tasks.pooling import pool_rows

DTYPES = ("float16", "float32")
VERSION = 1


class FeatureCache:
    """Runs a model's frozen biLM once for each text, however many epochs are trained.

    Within the `with` block, the model's `ELMoEmbedding` layers take the biLM's layers of a text
    from here; texts that are new are run and kept. The weights of the mix, gamma and all layers
    above train as ever. Afterwards the model is what it was: it takes raw text, and holds nothing
    of the cache.

    Where a layer's only output is `default`, and nothing is dropped or normalised before its
    mean, the L+1 means of a text are kept; else the L+1 vectors of each token.

    Args:
        model: Keras model with ELMoEmbedding layers, or an ELMoEmbedding. None of them
            fine-tunes.
        directory: Where to keep the features for other processes and later runs, mapped into
            memory; None keeps them in memory. Features of another biLM, tokenising or dtype lie
            beside each other there and are never mixed up.
        dtype: "float32" or "float16", of what is kept. Half precision takes half the room, but
            training magnifies its rounding: the model is another one than without a cache, as
            another seed's would be.
        most_bytes: Bytes to keep at most. Texts beyond are run each time.

    Raises:
        ValueError: There is no ELMoEmbedding, or one fine-tunes its biLM.

    Example:

    ```python
    texts, labels = ["free entry, text WIN", "see you at 8"], [1, 0]
    model = keras_elmo.Sequential(
        [keras_elmo.ELMoEmbedding(), keras.layers.Dense(1, activation="sigmoid")]
    )
    model.compile("adam", "binary_crossentropy")
    with FeatureCache(model):
        model.fit(texts, labels, epochs=20)
    model.predict(texts)
    ```
    """

    def __init__(self, model, directory=None, dtype="float32", most_bytes=2 << 30):
        check_choice("dtype", dtype, DTYPES)
        check_count("most_bytes", most_bytes)
        self.model = model
        self._layers = list(_embeddings_of(model))
        options = (directory, dtype, most_bytes, getattr(model, "needs_means_only", False))
        self._caches = [LayerCache(layer, *options) for layer in self._layers]

    def add(self, texts, verbose=0):
        """Run texts now, from the longest to the shortest, which is faster than in batches of fit.

        Args:
            texts: Raw texts or tokens in any container that the layers take.
            verbose: 0 for silence, 1 for Keras' progress bar.
        """
        for cache in self._caches:
            cache.add(texts, verbose)

    def __enter__(self):
        for layer, cache in zip(self._layers, self._caches, strict=True):
            layer.feature_cache = cache
        self._forget_graphs()
        return self

    def __exit__(self, *error):
        for layer, cache in zip(self._layers, self._caches, strict=True):
            layer.feature_cache = None
            cache.store.flush()
        self._forget_graphs()

    def _forget_graphs(self):
        """The graphs of fit, evaluate and predict were made with the cache, or without it."""
        if isinstance(self.model, keras.Model):
            for name in ("train_function", "test_function", "predict_function"):
                setattr(self.model, name, None)


class LayerCache:
    """The features of one `ELMoEmbedding`.

    Args:
        layer: ELMoEmbedding.
        directory, dtype, most_bytes: as in `FeatureCache`.
        means_only: bool, whether the model above takes the mean over tokens of the layer's output.

    Attributes:
        store: FeatureStore of rows `(L+1, D)`, one for each token, or one for each text where
            `pooled` is True.
    """

    def __init__(self, layer, directory, dtype, most_bytes, means_only=False):
        self.layer = layer
        self.has_norm = any(mix.layer_norm for mix in layer.mixes)
        between = layer.dropout or self.has_norm or layer.keep_boundaries
        self.pooled = (means_only or layer.output_names == "default") and not between
        self._embedder = None
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
        """Run the texts that are not here yet."""
        if self._embedder is None:
            self._embedder = Embedder(_of_all_layers(self.layer))
        tokens = self._embedder.tokens(texts)
        keys = _keys(tokens).numpy()
        missing = self.store.missing(keys)
        bar = keras.utils.Progbar(len(missing), verbose=verbose, unit_name="text")
        for numbers, arrays in self._embedder.runs(tf.gather(tokens, missing)):
            rows = [array.swapaxes(0, 1) for array in arrays]
            if self.pooled:
                rows = [_mean(array) for array in rows]
            lengths = [len(array) for array in rows]
            self.store.put(keys[missing[numbers]], np.concatenate(rows), lengths)
            bar.add(len(numbers))

    def outputs(self, tokens, time, training):
        """What the layer puts out for tokens.

        Args:
            tokens: RaggedTensor string `(batch, None)`.
            time: int or int32 tensor, time axis of the outputs without boundaries.
            training: Whether dropout is applied.
        """
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
        missing = tf.numpy_function(self.store.missing, [keys], tf.int64)
        missing.set_shape([None])

        def run():
            new = tf.gather(tokens, missing)
            rows = self._run(new)
            given = [tf.gather(keys, missing), rows.flat_values, rows.row_lengths()]
            return tf.numpy_function(self._put, given, tf.int64)

        stored = tf.cond(tf.size(missing) > 0, run, lambda: tf.constant(0, tf.int64))
        with tf.control_dependencies([stored]):
            flat, lengths = tf.numpy_function(self.store.get, [keys], [self.store.dtype, tf.int64])
        flat = tf.cast(tf.ensure_shape(flat, self._flat_shape), tf.float32)
        return tf.RaggedTensor.from_row_lengths(flat, tf.ensure_shape(lengths, [None]), False)

    @property
    def _flat_shape(self):
        return (None, *self.store.row_shape)

    def _run(self, tokens):
        layers, mask = self.layer.take_off_boundaries(*self.layer.source(tokens))
        if self.pooled:
            means = [masked_mean(part, mask) for part in tf.unstack(layers, axis=1)]
            return tf.RaggedTensor.from_tensor(tf.stack(means, axis=1)[:, tf.newaxis])
        rows = tf.transpose(layers, [0, 2, 1, 3])
        lengths = tf.reduce_sum(tf.cast(mask, tf.int64), axis=1)
        return tf.RaggedTensor.from_tensor(rows, lengths=lengths)

    def _put(self, keys, rows, lengths):
        self.store.put(keys, rows, lengths)
        return np.int64(len(keys))

    def _finish(self, name, rows, time):
        boundaries = 2 if self.layer.keep_boundaries else 0
        vectors = rows.to_tensor()
        missing = time + boundaries - tf.shape(vectors)[1]
        vectors = tf.pad(vectors, [[0, 0], [0, missing], [0, 0]])
        mask = tf.sequence_mask(rows.row_lengths(), time + boundaries)
        if name == "default":
            return self.layer.pool(vectors, mask)
        return set_mask(vectors, mask)


def cache_for_fit(model, embedding, wanted):
    """The context of a `fit`: a FeatureCache or, where none is wanted or can be, nothing.

    Args:
        model: Keras model that is trained.
        embedding: its ELMoEmbedding.
        wanted: True for features in memory, a path for features in a directory, False for none.
    """
    if not wanted or embedding.fine_tune:
        return contextlib.nullcontext()
    return FeatureCache(model, directory=None if wanted is True else wanted)


def _embeddings_of(model):
    found = elmo_layers(model)
    if not found:
        raise ValueError(
            "`model` must be an ELMoEmbedding or a Keras model with one among its layers. "
            f"Received: {model!r:.80}."
        )
    for layer in found:
        if layer.fine_tune:
            raise ValueError(
                f"A FeatureCache must have a frozen biLM. Received: the layer '{layer.name}' with "
                "`fine_tune=True`, whose features change with each step. Train without a cache."
            )
        yield layer


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
