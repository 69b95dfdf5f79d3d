"""`Tagger`: a label for every token, from ELMo vectors and a bidirectional LSTM."""

import os
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from keras_elmo.basics.checks import check_count, check_share
from keras_elmo.basics.keras_internals import is_within_fit, mask_of, set_mask
from keras_elmo.embedding.stand_ins import stand_in_of
from keras_elmo.tasks.cache.feature_cache import UsesFeatureCache, cache_for_fit
from keras_elmo.tasks.embedding_layers import elmo_layer_of_tokens, glove_layer
from keras_elmo.tasks.labelled_model import LabelledModel
from keras_elmo.tasks.labels import Labels
from keras_elmo.tasks.tagger.export import export_tagger
from keras_elmo.tasks.tagger.sequence_labels import encode_labels, read_labels
from keras_elmo.tasks.tagger.spans import SpanScores, score_spans
from keras_elmo.tasks.tagger.token_accuracy import TokenAccuracy
from keras_elmo.tasks.tagger.token_batches import TokenBatches
from keras_elmo.text.inputs import read_tokens

TRAINING_BATCH = 32
INFERENCE_BATCH = 128
LEARNING_RATE = 3e-3
_KERAS_OPTIONS = ("name", "dtype", "trainable")
_FOR_TEXTS = ("class_weight", "sample_weight", "shuffle")


@keras.saving.register_keras_serializable(package="keras_elmo")
class Tagger(UsesFeatureCache, LabelledModel):
    """Labels every token: ELMo's mix of biLM layers, a bidirectional LSTM, a softmax.

    `p_t = softmax(W [h_t forward; h_t backward] + b)`, where h is the LSTM's over the vectors
    `x_t = [gamma * sum_j s_j h_j,t; g_t]`: ELMo's, and GloVe's beside it if given. The biLM is
    frozen; `s`, `gamma`, the LSTM and the softmax train. Padding counts neither in the loss nor in
    the accuracy: both are means over tokens.

    Args:
        source: what `ELMoEmbedding` takes as source, or an ELMoEmbedding with `output="elmo"` and
            `inputs="tokens"`.
        units: of the LSTM in each direction; 0 for none: a linear probe of the vectors.
        dropout: share in [0, 1), dropped from the vectors, and from the LSTM's outputs.
        glove: word vectors that stand beside ELMo's: a `GloVeEmbedding`, `WordVectors`, or the
            path of a file; None for none.
        classes: the labels, if known before training; None takes them from the first `fit`.
        **kwargs: `name`, `dtype` and `trainable` for Keras, all others for `ELMoEmbedding`
            (`mix=ScalarMix(layer_norm=True)`, `fine_tune=True` ...).

    Call arguments:
        inputs: tokens: string (batch, time), `""` at padding; RaggedTensor or list of lists.

    Returns:
        Float32 probabilities (batch, time, n_classes), with the Keras mask (batch, time).

    Raises:
        ValueError: a value outside its range, one class only, an unknown or missing label, tokens
            and labels of different lengths.
        TypeError: sentences that are not split into tokens.

    Example:

    ```python
    tagger = Tagger(units=16)
    tagger.fit([["You", "agree"], ["No"]], [["PRON", "VERB"], ["INTJ"]], epochs=2)
    tagger.predict_labels([["I", "agree"], []])   # a label a token, as [["PRON", "VERB"], []]
    ```
    """

    KIND = "tagger"
    LAYERS = ("source", "glove")
    EXPORT = staticmethod(export_tagger)

    def __init__(
        self,
        source: Any = "english-small",
        units: int | None = 128,
        dropout: float = 0.4,
        glove: Any = None,
        classes: Sequence | None = None,
        **kwargs: Any,
    ):
        keras_options = {key: kwargs.pop(key) for key in _KERAS_OPTIONS if key in kwargs}
        super().__init__(**keras_options)
        self.units = check_count("units", units) if units else 0
        self.dropout = check_share("dropout", dropout)
        policy = self.dtype_policy
        self.embedding = elmo_layer_of_tokens(source, policy, kwargs)
        self.glove = glove_layer(glove, policy)
        self.drop = keras.layers.Dropout(dropout, dtype=policy, name="dropout")
        self.recurrent = None
        if self.units:
            lstm = keras.layers.LSTM(self.units, return_sequences=True, dtype=policy)
            self.recurrent = keras.layers.Bidirectional(lstm, dtype=policy, name="recurrent")
        self.head: Any = None
        self.labels = None
        self._traced = None
        if classes is not None:
            self._set_classes(classes)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> tf.Tensor:
        """Probabilities for a tensor, or for tokens in any container."""
        is_padded = tf.is_tensor(inputs) and not isinstance(inputs, tf.RaggedTensor)
        if not isinstance(inputs, keras.KerasTensor) and not is_padded:
            inputs = TokenBatches.pad(read_tokens(inputs).tokens)
        return super().__call__(inputs, *args, **kwargs)

    def build(self, input_shape=None):
        self._check_fitted()
        width = self.embedding.output_dim + (self.glove.dim if self.glove else 0)
        if self.recurrent is not None and not self.recurrent.built:
            self.recurrent.build((None, None, width))
        if not self.head.built:
            self.head.build((None, None, 2 * self.units or width))

    def call(self, inputs, training=None):
        self._check_fitted()
        x = self.embedding(inputs, training=training)
        mask = mask_of(x)
        if self.glove is not None:
            x = tf.concat([x, self.glove(inputs)], axis=-1)
        x = self.drop(x, training=training)
        if self.recurrent is not None:
            recurrent = stand_in_of(self.recurrent) or self.recurrent
            x = recurrent(x, mask=_with_first(mask), training=training)
            x = self.drop(x, training=training)
        return set_mask(self.head(x), mask)

    def compute_mask(self, inputs, previous_mask=None):
        """None: `call` sets the mask of its output."""

    def compute_output_shape(self, input_shape):
        self._check_fitted()
        return (*input_shape[:2], self.head.units)

    def fit(
        self,
        tokens: Any,
        labels: Any,
        batch_size: int = TRAINING_BATCH,
        epochs: int = 1,
        verbose: int | str = "auto",
        callbacks: Any = None,
        validation_data: Any = None,
        feature_cache: bool | str | os.PathLike = True,
        **kwargs: Any,
    ) -> keras.callbacks.History:
        """Trains on sentences and their labels; a second call continues.

        Compiles the model with Adam, crossentropy and accuracy unless it was compiled before. Each
        epoch shuffles the sentences into batches of about one length.

        Args:
            tokens: tokens of n sentences: list of lists of str, RaggedTensor (n, None), or array or
                tensor (n, time) padded with "".
            labels: a label for each token, strings, bools or whole numbers: list of lists or
                RaggedTensor; or array or tensor (n, time), whose values at padding mean nothing.
            batch_size: sentences a step.
            epochs: passes over all sentences.
            verbose: 0, 1, 2 or "auto", as in `keras.Model.fit`.
            callbacks: as in `keras.Model.fit`.
            validation_data: pair of tokens and labels.
            feature_cache: whether the frozen biLM runs once for each sentence (`FeatureCache`):
                True keeps its layers in memory while this call lasts, a path in that directory for
                later calls, False runs it anew in each epoch. With `fine_tune=True` nothing is
                kept.
            **kwargs: other arguments of `keras.Model.fit`, as `initial_epoch`.

        Returns:
            The `keras.callbacks.History`.
        """
        wrong = [name for name in _FOR_TEXTS if name in kwargs]
        if wrong:
            raise ValueError(
                f"`{wrong[0]}` must be left out: a tagger draws its batches itself, and every "
                f"token counts alike. Received: {wrong[0]}={kwargs[wrong[0]]!r:.60}."
            )
        tokens, rows = self._read(tokens, labels)
        if self.labels is None:
            self._set_classes([label for row in rows for label in row])
        batches = TokenBatches(tokens, encode_labels(self.labels, rows), batch_size, shuffle=True)
        if validation_data is not None:
            tokens_val, labels_val = validation_data
            validation_data = self._batches(tokens_val, labels_val, INFERENCE_BATCH)
        self._compile_unless_compiled()
        with cache_for_fit(self, self.embedding, feature_cache) as cache:
            if cache is not None:
                cache.add_tokens(tokens, verbose=verbose in (1, "auto"))
            return self.keras_methods().fit(
                batches,
                epochs=epochs,
                verbose=verbose,
                callbacks=callbacks,
                validation_data=validation_data,
                shuffle=False,
                **kwargs,
            )

    def evaluate(
        self,
        tokens: Any = None,
        labels: Any = None,
        batch_size: int = INFERENCE_BATCH,
        verbose: int | str = "auto",
        **kwargs: Any,
    ) -> dict[str, float]:
        """Mean crossentropy in nats, and the share of right labels, over all tokens.

        They do not depend on the batches, nor on what the model was compiled with.

        Args:
            tokens: as in `fit`.
            labels: as in `fit`, of the classes that the tagger knows.
            batch_size: sentences a step.
            verbose: 0 for silence, 1 or "auto" for Keras' progress bar.
            **kwargs: none; Keras passes its own from within `fit`.

        Returns:
            "loss" and "accuracy".
        """
        if is_within_fit(kwargs):
            return super().evaluate(batch_size=batch_size, verbose=verbose, **kwargs)
        self._check_fitted()
        tokens, rows = self._read(tokens, labels)
        numbers = encode_labels(self.labels, rows).flat_values.numpy()
        if not len(numbers):
            raise ValueError("`tokens` must hold at least one token. Received: none.")
        probabilities = np.concatenate(self.predict_proba(tokens, batch_size, verbose))
        true = probabilities[np.arange(len(numbers)), numbers].astype(np.float64)
        return {
            "loss": float(-np.log(np.maximum(true, keras.config.epsilon())).mean()),
            "accuracy": float((probabilities.argmax(axis=1) == numbers).mean()),
        }

    def predict_proba(
        self, tokens: Any, batch_size: int = INFERENCE_BATCH, verbose: int | str = "auto"
    ) -> list[np.ndarray]:
        """Probabilities: a list of float32 arrays (time, n_classes), columns as in `classes_`.

        Sentences are run in order of length, which saves padding; results are in their own order.
        """
        self._check_fitted()
        batches = TokenBatches(read_tokens(tokens).tokens, batch_size=batch_size)
        results: list[Any] = [None] * len(batches.lengths)
        bar = keras.utils.Progbar(len(batches), verbose=1 if verbose == "auto" else verbose)
        run = self._graph()
        for number, rows in enumerate(batches.rows):
            probabilities = run(batches[number]).numpy()
            for row, values in zip(rows, probabilities, strict=True):
                results[row] = values[: batches.lengths[row]]
            bar.add(1)
        return results

    def predict(
        self, x: Any, batch_size: int = INFERENCE_BATCH, verbose: int | str = "auto"
    ) -> np.ndarray:
        """Probabilities as one array: float32 (n, time, n_classes), 0 at padding."""
        rows = self.predict_proba(x, batch_size, verbose)
        time = max(map(len, rows), default=0)
        padded: np.ndarray = np.zeros((len(rows), time, self.head.units), np.float32)
        for row, values in zip(padded, rows, strict=True):
            row[: len(values)] = values
        return padded

    def predict_labels(
        self, tokens: Any, batch_size: int = INFERENCE_BATCH, verbose: int | str = "auto"
    ) -> list[list]:
        """The most probable label of every token: list of lists, as long as their sentences."""
        rows = self.predict_proba(tokens, batch_size, verbose)
        return [self.labels.decode(row.argmax(axis=1)).tolist() for row in rows]

    def score_spans(
        self,
        tokens: Any,
        labels: Any,
        batch_size: int = INFERENCE_BATCH,
        verbose: int | str = "auto",
    ) -> SpanScores:
        """Precision, recall and F1 of whole spans, for labels O, B-type and I-type: `SpanScores`.

        A span is right if its first token, its last token and its type are.
        """
        tokens, rows = self._read(tokens, labels)
        return score_spans(rows, self.predict_labels(tokens, batch_size, verbose))

    def get_config(self):
        return {
            **super().get_config(),
            "source": keras.saving.serialize_keras_object(self.embedding),
            "units": self.units,
            "dropout": self.dropout,
            "glove": self.glove and keras.saving.serialize_keras_object(self.glove),
            "classes": None if self.labels is None else list(self.labels.classes),
        }

    def _set_classes(self, labels):
        self.labels = Labels(labels)
        self.head = keras.layers.Dense(len(self.labels), "softmax", dtype="float32", name="head")
        self.build()

    def _graph(self):
        """The model as one graph for batches of every shape; kept where nothing stands in."""

        def run(tokens):
            return self(tokens, training=False)

        if self.compiled and self.run_eagerly:
            return run
        is_own = stand_in_of(self.embedding) is None
        if is_own and self._traced is not None:
            return self._traced
        graph = tf.function(run, [tf.TensorSpec((None, None), tf.string)])
        if is_own:
            self._traced = graph
        return graph

    def _read(self, tokens, labels):
        tokens = read_tokens(tokens).tokens
        if tokens.nrows() == 0:
            raise ValueError("`tokens` must hold at least one sentence. Received: none.")
        return tokens, read_labels(labels, tokens)

    def _batches(self, tokens, labels, batch_size):
        tokens, rows = self._read(tokens, labels)
        return TokenBatches(tokens, encode_labels(self.labels, rows), batch_size)

    def _compile_unless_compiled(self):
        if not self.compiled:
            self.compile(
                optimizer=keras.optimizers.Adam(LEARNING_RATE),
                loss="sparse_categorical_crossentropy",
                metrics=[TokenAccuracy()],
            )


def _with_first(mask):
    """The mask with every first position in it: cuDNN's LSTM takes no sentence without a token."""
    return tf.logical_or(mask, tf.equal(tf.range(tf.shape(mask)[1]), 0))
