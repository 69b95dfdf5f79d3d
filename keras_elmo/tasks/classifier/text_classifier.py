"""`TextClassifier`: ELMo vectors, pooled and standardised, and a dense or a logistic head."""

import functools
import os
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from keras_elmo.basics.checks import check_count, check_flag, check_share
from keras_elmo.basics.keras_internals import is_within_fit, take_any_inputs
from keras_elmo.embedding.stand_ins import stand_in_of
from keras_elmo.tasks.averaging import with_averaging
from keras_elmo.tasks.cache.feature_cache import UsesFeatureCache, cache_for_fit
from keras_elmo.tasks.cache.layer_cache import LayerCache
from keras_elmo.tasks.classifier.character_ngrams import CharacterNGrams
from keras_elmo.tasks.classifier.dense_head import DenseHead
from keras_elmo.tasks.classifier.export import export_classifier
from keras_elmo.tasks.classifier.first_pass import first_pass, traced
from keras_elmo.tasks.classifier.logistic_fit import (
    LogisticFit,
    check_head_options,
    check_logistic_fit,
)
from keras_elmo.tasks.classifier.logistic_head import LogisticHead
from keras_elmo.tasks.embedding_layers import elmo_layer
from keras_elmo.tasks.inputs import (
    can_shuffle,
    is_stream,
    predict_by_length,
    read_stream,
    split_rows,
)
from keras_elmo.tasks.labelled_model import LabelledModel
from keras_elmo.tasks.labels import (
    Labels,
    check_class_weight,
    encode_batches,
    labelled_rows,
    readable_label_errors,
)
from keras_elmo.tasks.pooling import SequencePooling
from keras_elmo.tasks.standardize import Standardize
from keras_elmo.text.inputs import batch_of

TRAINING_BATCH = 60
LEARNING_RATE = 2e-3  # twice Keras' own, which suits averaged weights
INFERENCE_BATCH = 128
_KERAS_OPTIONS = ("name", "dtype", "trainable")


@keras.saving.register_keras_serializable(package="keras_elmo")
class TextClassifier(UsesFeatureCache, LabelledModel):
    """Classifies texts: ELMo's mix of biLM layers, pooled, standardised, two Dense layers.

    `p = softmax(W_2 relu(W_1 z + b_1) + b_2)` (sigmoid for two classes), where `z` is the mean
    and/or the maximum over a text's tokens of `gamma * sum_j s_j h_j`, standardised. The biLM is
    frozen; `s`, `gamma` and the two Dense layers train. Before its first epoch, the first `fit`
    reads the training data (never the validation data) once: it collects the classes, and the
    means and variances of the pooled features under the initial mix. Both are kept from then on.

    With `logistic=True` the features stay those of the initial mix, and a penalised logistic
    regression on them, brought to length 1, is solved by `fit` at once (`LogisticHead`): the
    better choice for few labels. `ngrams=True` gives it the text's n-grams of characters too
    (`CharacterNGrams`), the best choice for short messages.

    Args:
        source: what `ELMoEmbedding` takes as source, or an ELMoEmbedding with `output="elmo"`.
        pooling: "mean", "max" or "both" (concatenated) over a text's tokens.
        standardize: whether pooled features are standardised.
        hidden_units: width of the hidden layer.
        dropout: share in [0, 1), dropped from the hidden layer in training.
        average_weights: whether validation, callbacks and the fitted model have a moving
            average of the weights over the last steps (`WeightAveraging`) instead of the last.
        logistic: whether a logistic regression takes the place of the two Dense layers;
            `hidden_units`, `dropout` and `average_weights` must be left out then.
        ngrams: whether the logistic regression sees the n-grams of characters as well.
        classes: the labels, if known before training; None takes them from the first `fit`.
        **kwargs: `name`, `dtype` and `trainable` for Keras, all others for `ELMoEmbedding`
            (`mix=ScalarMix(layer_norm=True)`, `tokenizer="words"` ...).

    Call arguments:
        inputs: string (batch,) texts, or what else the ELMoEmbedding takes.

    Returns:
        Float32 probabilities: (batch, 1), of the second class, for two classes; otherwise
        (batch, n_classes).

    Raises:
        ValueError: a value outside its range, one class only, an unknown label, missing texts or
            labels, texts and labels of different lengths.

    Example:

    ```python
    classifier = TextClassifier()
    classifier.fit(["free entry, text WIN", "see you at 8"], ["spam", "ham"])
    classifier.predict_labels(["are we on for tonight?"])     # array(['ham'], dtype='<U4')
    ```
    """

    KIND = "classifier"
    LAYERS = ("source",)
    EXPORT = staticmethod(export_classifier)

    def __init__(
        self,
        source: Any = "english-small",
        pooling: str = "both",
        standardize: bool = True,
        hidden_units: int = 256,
        dropout: float = 0.0,
        average_weights: bool = True,
        logistic: bool = False,
        ngrams: bool = False,
        classes: Sequence | None = None,
        **kwargs: Any,
    ):
        keras_options = {key: kwargs.pop(key) for key in _KERAS_OPTIONS if key in kwargs}
        super().__init__(**keras_options)
        take_any_inputs(self)
        self.pooling = pooling
        self.standardize = check_flag("standardize", standardize)
        self.average_weights = check_flag("average_weights", average_weights)
        self.hidden_units = check_count("hidden_units", hidden_units)
        self.dropout = check_share("dropout", dropout)
        self.logistic = check_flag("logistic", logistic)
        self.ngrams = check_flag("ngrams", ngrams)
        policy = self.dtype_policy
        self.embedding = elmo_layer(source, policy, kwargs)
        self.pool = SequencePooling(pooling, dtype=policy, name="pooling")
        standardization = Standardize(dtype=policy, name="standardization")
        self.standardization = standardization if standardize else None
        self.characters = CharacterNGrams(name="ngrams") if ngrams else None
        self.head: Any = None
        check_head_options(self)
        self.labels = None
        if classes is not None:
            self._set_classes(classes)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> tf.Tensor:
        """Probabilities for texts or tokens in any container; a RaggedTensor is taken as it is."""
        inputs = inputs if isinstance(inputs, keras.KerasTensor) else self.tokens(inputs)
        return super().__call__(inputs, *args, **kwargs)

    def build(self, input_shape=None):
        self._check_fitted()
        shape = (None, self.embedding.output_dim * (2 if self.pooling == "both" else 1))
        for layer in (self.standardization, self.characters, self.head):
            if layer is not None and not layer.built:
                layer.build(shape)

    def call(self, inputs, training=None):
        self._check_fitted()
        if self.logistic:
            return self.head(*self._logistic_features(inputs))
        return self.head(self._standardized(inputs, training), training=training)

    def features(self, inputs: Any, training: bool | None = None) -> tf.Tensor:
        """The pooled features before standardisation: (batch, dim), or (batch, 2 * dim)."""
        tokens, cache = self.tokens(inputs), stand_in_of(self.embedding)
        if not isinstance(cache, LayerCache) or cache.has_norm:
            return self.pool(self.embedding.embed(batch_of(tokens), training))
        pooled = cache.features(tokens, self.pooling, training)
        return tf.cast(pooled, self.pool.compute_dtype)

    def tokens(self, inputs: Any) -> tf.RaggedTensor:
        """The tokens of texts or tokens; a RaggedTensor is taken as it is."""
        return inputs if isinstance(inputs, tf.RaggedTensor) else self._read(inputs)

    def learn_classes(self, labels: Sequence) -> None:
        """Takes the classes from labels unless they are known; raises where a label is not."""
        if self.labels is None:
            self._set_classes(labels)
        self.labels.encode(labels)

    @property
    def needs_means_only(self) -> bool:
        """Whether of the embedding's output only the mean over a text's tokens is used."""
        return self.pooling == "mean"

    def compute_output_shape(self, input_shape):
        self._check_fitted()
        return (input_shape[0], self.head.units)

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: int | str = "auto",
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: bool = True,
        class_weight: dict | None = None,
        sample_weight: Any = None,
        feature_cache: bool | str | os.PathLike = True,
        **kwargs: Any,
    ) -> keras.callbacks.History:
        """Trains on texts and labels; a second call continues.

        Compiles the model with Adam, crossentropy and accuracy unless it was compiled before.

        Arguments that are not told here are those of `keras.Model.fit`. `x` takes texts in any
        container, or a tf.data.Dataset or PyDataset of (texts, labels); `y` labels in any
        container: strings, bools or whole numbers, as in `validation_data`; `batch_size` None
        means 60; `class_weight` is a dict from label to weight. `feature_cache` tells whether the
        frozen biLM runs once for each text (`FeatureCache`): True keeps its layers in memory while
        this call lasts, a path keeps them in that directory for later calls, False runs it anew in
        each epoch. With `fine_tune=True` nothing is kept.

        With `logistic=True` there is one epoch without steps, whose end callbacks see;
        `class_weight` None means that all classes weigh alike, however many texts they have.
        """
        check_class_weight(class_weight)
        if self.logistic:
            check_logistic_fit(epochs, kwargs, x)
        batch_size = TRAINING_BATCH if batch_size is None else check_count("batch_size", batch_size)
        x, y, sample_weight = self._data(x, y, sample_weight, batch_size)
        if validation_split and validation_data is None and not is_stream(x):
            train, validation_data = split_rows(validation_split, x, y, sample_weight)
            x, y, sample_weight = train
        elif validation_data is not None:
            x_val, y_val, weights = keras.utils.unpack_x_y_sample_weight(validation_data)
            validation_data = self._data(x_val, y_val, weights, batch_size)
        if not is_stream(x):
            self.learn_classes(y)
        with cache_for_fit(self, self.embedding, feature_cache) as cache, readable_label_errors():
            if cache is not None and not is_stream(x):
                cache.add_tokens(x, verbose=verbose in (1, "auto"))
            first_pass(self, x, kwargs.get("steps_per_epoch"))
            self._compile_unless_compiled()
            x, y = encode_batches(x, y, self.labels)
            if validation_data is not None:
                x_val, y_val, weights = validation_data
                x_val, y_val = encode_batches(x_val, y_val, self.labels)
                validation_data = keras.utils.pack_x_y_sample_weight(x_val, y_val, weights)
            class_weight = class_weight and self.labels.encode_weights(class_weight)
            if self.logistic:
                read = traced(self, self._logistic_features)
                evaluate = self.keras_methods().evaluate
                fit = LogisticFit(self, read, evaluate, batch_size, verbose, **kwargs)
                return fit.run((x, y, sample_weight), class_weight, validation_data, callbacks)
            return self.keras_methods().fit(
                x,
                y,
                batch_size=None if is_stream(x) else batch_size,
                epochs=epochs,
                verbose=verbose,
                callbacks=with_averaging(callbacks) if self.average_weights else callbacks,
                validation_split=validation_split if is_stream(x) else 0.0,
                validation_data=validation_data,
                shuffle=shuffle and can_shuffle(x),
                class_weight=class_weight,
                sample_weight=sample_weight,
                **kwargs,
            )

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: int | str = "auto",
        sample_weight: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Loss and metrics as from `keras.Model.evaluate`, for labels of the user's own kind."""
        if not is_within_fit(kwargs):  # fit's own call comes with class numbers
            self._check_fitted()
            self._compile_unless_compiled()
            batch_size = batch_size or INFERENCE_BATCH
            x, y, sample_weight = self._data(x, y, sample_weight, batch_size)
            x, y = encode_batches(x, y, self.labels)
        batch_size = None if is_stream(x) else batch_size
        with readable_label_errors():
            return self.keras_methods().evaluate(
                x, y, batch_size=batch_size, verbose=verbose, sample_weight=sample_weight, **kwargs
            )

    def predict(
        self, x: Any, batch_size: int | None = None, verbose: int | str = "auto", **kwargs: Any
    ) -> np.ndarray:
        """Probabilities as from `keras.Model.predict`: (n, 1) for two classes, else (n, classes).

        Texts in memory are run in order of length, which saves padding, and come back in their own.
        """
        self._check_fitted()
        batch_size = batch_size or INFERENCE_BATCH
        run = functools.partial(self.keras_methods().predict, verbose=verbose, **kwargs)
        if is_stream(x):
            return run(read_stream(x, self._read, batch_size))
        x = self._read(x)
        if "steps" in kwargs:
            return run(x, batch_size)
        if x.shape[0] == 0:
            return np.zeros((0, self.head.units), np.float32)
        lengths = x.row_lengths().numpy()
        return predict_by_length(lambda rows: run(rows, batch_size), x, lengths)

    def predict_proba(
        self, x: Any, batch_size: int | None = None, verbose: int | str = "auto"
    ) -> np.ndarray:
        """Probabilities, float32 (n, n_classes), columns in the order of `classes_`."""
        probabilities = self.predict(x, batch_size=batch_size, verbose=verbose)
        if len(self.labels) == 2:
            return np.concatenate([1 - probabilities, probabilities], axis=1)
        return probabilities

    def predict_labels(
        self, x: Any, batch_size: int | None = None, verbose: int | str = "auto"
    ) -> np.ndarray:
        """The most probable label of every text, an array (n,) of the user's own kind."""
        probabilities = self.predict_proba(x, batch_size=batch_size, verbose=verbose)
        return self.labels.decode(probabilities.argmax(axis=1))

    def get_config(self):
        return {
            **super().get_config(),
            "source": keras.saving.serialize_keras_object(self.embedding),
            "pooling": self.pooling,
            "standardize": self.standardize,
            "hidden_units": self.hidden_units,
            "dropout": self.dropout,
            "average_weights": self.average_weights,
            "logistic": self.logistic,
            "ngrams": self.ngrams,
            "classes": None if self.labels is None else list(self.labels.classes),
        }

    def _set_classes(self, labels):
        self.labels = Labels(labels)
        n = len(self.labels)
        if self.logistic:
            self.head = LogisticHead(n, self.ngrams, name="head")
        else:
            options = (self.hidden_units, self.dropout)
            self.head = DenseHead(n, *options, dtype=self.dtype_policy, name="head")
        self.build()

    def _read(self, inputs):
        """The tokens of texts or tokens in any container: the one kind that graphs of Keras see."""
        return self.embedding.read(inputs).tokens

    def _data(self, x, y, sample_weight, batch_size):
        """Tokens, a list of labels and weights of equal length; or a stream of batches of these."""
        if is_stream(x):
            return read_stream(x, self._read, batch_size), y, sample_weight
        return labelled_rows(self._read(x), y, sample_weight)

    def _standardized(self, inputs, training=False):
        x = self.features(inputs, training=training)
        return self.standardization(x) if self.standardize else x

    def _logistic_features(self, inputs):
        """What the logistic head takes: vectors, and n-grams or None."""
        grams = self.characters(self.tokens(inputs)) if self.ngrams else None
        return self._standardized(inputs), grams

    def _compile_unless_compiled(self):
        if not self.compiled:
            two = len(self.labels) == 2
            loss = "binary_crossentropy" if two else "sparse_categorical_crossentropy"
            optimizer = "sgd" if self.logistic else keras.optimizers.Adam(LEARNING_RATE)
            self.compile(optimizer=optimizer, loss=loss, metrics=["accuracy"])
