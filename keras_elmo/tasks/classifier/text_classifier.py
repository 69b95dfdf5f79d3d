"""`TextClassifier`: ELMo vectors, pooled and standardised, and a dense or a logistic head."""

import collections
import functools

import keras
import numpy as np
import tensorflow as tf

from keras_elmo.basics.checks import check_count, check_flag, check_share
from keras_elmo.export.hub import export_hub
from keras_elmo.tasks.averaging import with_averaging
from keras_elmo.tasks.batches import (
    batches_by_length,
    encode_batches,
    encode_validation,
    predict_by_length,
    read_data,
    stream_batches,
)
from keras_elmo.tasks.cache.feature_cache import cache_for_fit
from keras_elmo.tasks.classifier.character_ngrams import CharacterNGrams
from keras_elmo.tasks.classifier.dense_head import DenseHead
from keras_elmo.tasks.classifier.export import export_classifier
from keras_elmo.tasks.classifier.logistic_fit import (
    LogisticFit,
    check_head_options,
    check_logistic_fit,
)
from keras_elmo.tasks.classifier.logistic_head import LogisticHead
from keras_elmo.tasks.inputs import (
    batched,
    can_shuffle,
    holds_text,
    is_stream,
    model_input,
    split_rows,
)
from keras_elmo.tasks.labelled_model import LabelledModel
from keras_elmo.tasks.labels import Labels, check_class_weight, readable_label_errors
from keras_elmo.tasks.pooling import SequencePooling
from keras_elmo.tasks.standardize import Standardize
from keras_elmo.tasks.tagger.token_vectors import token_vectors

TRAINING_BATCH = 60
LEARNING_RATE = 2e-3  # twice Keras' own, which suits averaged weights
INFERENCE_BATCH = 128
_KERAS_OPTIONS = ("name", "dtype", "trainable")


@keras.saving.register_keras_serializable(package="keras_elmo")
class TextClassifier(LabelledModel):
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
        standardize: bool, whether pooled features are standardised.
        hidden_units: int, width of the hidden layer.
        dropout: float in [0, 1), dropped from the hidden layer in training.
        average_weights: bool, whether validation, callbacks and the fitted model have a moving
            average of the weights over the last steps (`WeightAveraging`) instead of the last.
        logistic: bool, whether a logistic regression takes the place of the two Dense layers;
            `hidden_units`, `dropout` and `average_weights` must be left out then. `fit` needs
            scikit-learn for it (`pip install "keras_elmo[logistic]"`), the fitted model does not.
        ngrams: bool, whether the logistic regression sees the n-grams of characters as well.
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
        source="english-small",
        pooling="both",
        standardize=True,
        hidden_units=256,
        dropout=0.0,
        average_weights=True,
        logistic=False,
        ngrams=False,
        classes=None,
        **kwargs,
    ):
        keras_options = {key: kwargs.pop(key) for key in _KERAS_OPTIONS if key in kwargs}
        super().__init__(**keras_options)
        self.pooling = pooling
        self.standardize = check_flag("standardize", standardize)
        self.average_weights = check_flag("average_weights", average_weights)
        self.hidden_units = check_count("hidden_units", hidden_units)
        self.dropout = check_share("dropout", dropout)
        self.logistic = check_flag("logistic", logistic)
        self.ngrams = check_flag("ngrams", ngrams)
        policy = self.dtype_policy
        self.embedding = token_vectors(source, policy, kwargs)
        self.pool = SequencePooling(pooling, dtype=policy, name="pooling")
        self.standardization = None
        if standardize:
            self.standardization = Standardize(dtype=policy, name="standardization")
        self.characters = CharacterNGrams(name="ngrams") if ngrams else None
        self.head = None
        check_head_options(logistic, ngrams, self.embedding.fine_tune)
        if logistic and (hidden_units, dropout, average_weights) != (256, 0.0, True):
            raise ValueError(
                "`hidden_units`, `dropout` and `average_weights` have no meaning with "
                f"`logistic=True`. Received: {hidden_units}, {dropout} and {average_weights}. "
                "Leave them out."
            )
        self.labels = None
        self._rank = None
        if classes is not None:
            self._set_classes(classes)

    def export_hub(self, directory, overwrite=False):
        """Writes the ELMo layer as a module for TF-Hub: `keras_elmo.export_hub`."""
        export_hub(self, directory, overwrite)

    def __call__(self, inputs, *args, **kwargs):
        """Probabilities for a tensor, or for texts in any container."""
        inputs = self._texts(inputs) if holds_text(inputs) else inputs
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

    def features(self, inputs, training=None):
        """The pooled features before standardisation: (batch, dim), or (batch, 2 * dim)."""
        cache = self.embedding.feature_cache
        if cache is None or cache.has_norm:
            return self.pool(self.embedding(inputs, training=training))
        tokens = self.embedding.read(inputs).tokens
        return tf.cast(cache.features(tokens, self.pooling, training), self.pool.compute_dtype)

    @property
    def needs_means_only(self):
        """Whether of the embedding's output only the mean over a text's tokens is used."""
        return self.pooling == "mean"

    def compute_output_shape(self, input_shape):
        self._check_fitted()
        return (input_shape[0], self.head.units)

    def compute_output_spec(self, inputs, training=None):
        return keras.KerasTensor(self.compute_output_shape(inputs.shape), "float32")

    def fit(
        self,
        x=None,
        y=None,
        batch_size=None,
        epochs=1,
        verbose="auto",
        callbacks=None,
        validation_split=0.0,
        validation_data=None,
        shuffle=True,
        class_weight=None,
        sample_weight=None,
        feature_cache=True,
        **kwargs,
    ):
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

        Returns:
            The `keras.callbacks.History`.
        """
        check_class_weight(class_weight)
        if self.logistic:
            check_logistic_fit(epochs, kwargs, x)
        batch_size = TRAINING_BATCH if batch_size is None else check_count("batch_size", batch_size)
        x, y, sample_weight = read_data(self._texts(x), y, sample_weight, batch_size)
        if validation_split and validation_data is None and not is_stream(x):
            train, validation_data = split_rows(validation_split, x, y, sample_weight)
            x, y, sample_weight = train
        if not is_stream(x):
            self._learn_classes(y)
        with cache_for_fit(self, self.embedding, feature_cache) as cache, readable_label_errors():
            if cache is not None and not is_stream(x):
                cache.add(x, verbose=verbose in (1, "auto"))
            self._first_pass(x, kwargs.get("steps_per_epoch"))
            validation_data = encode_validation(
                validation_data, self.labels, self.embedding.inputs, batch_size
            )
            self._compile_unless_compiled()
            x, y = encode_batches(x, y, self.labels)
            class_weight = class_weight and self.labels.encode_weights(class_weight)
            if self.logistic:
                read = self._traced(self._logistic_features)
                fit = LogisticFit(self, read, super().evaluate, batch_size, verbose, **kwargs)
                return fit.run((x, y, sample_weight), class_weight, validation_data, callbacks)
            return super().fit(
                x,
                y,
                batch_size=None if is_stream(x) else batch_size,
                epochs=epochs,
                verbose=verbose,
                callbacks=with_averaging(callbacks) if self.average_weights else callbacks,
                validation_split=validation_split,
                validation_data=validation_data,
                shuffle=shuffle and can_shuffle(x),
                class_weight=class_weight,
                sample_weight=sample_weight,
                **kwargs,
            )

    def evaluate(
        self, x=None, y=None, batch_size=None, verbose="auto", sample_weight=None, **kwargs
    ):
        """Loss and metrics as from `keras.Model.evaluate`, for labels of the user's own kind."""
        if "_use_cached_eval_dataset" not in kwargs:  # fit's own call comes with class numbers
            self._check_fitted()
            self._compile_unless_compiled()
            batch_size = batch_size or INFERENCE_BATCH
            x, y, sample_weight = read_data(self._texts(x), y, sample_weight, batch_size)
            x, y = encode_batches(x, y, self.labels)
        batch_size = None if is_stream(x) else batch_size
        with readable_label_errors():
            return super().evaluate(
                x, y, batch_size=batch_size, verbose=verbose, sample_weight=sample_weight, **kwargs
            )

    def predict(self, x, batch_size=None, verbose="auto", **kwargs):
        """Probabilities as from `keras.Model.predict`: (n, 1) for two classes, else (n, classes).

        Texts in memory are run in order of length, which saves padding, and come back in their own.
        """
        self._check_fitted()
        batch_size = batch_size or INFERENCE_BATCH
        x = self._texts(x)
        if is_stream(x):
            return super().predict(batched(x, batch_size), verbose=verbose, **kwargs)
        if "steps" in kwargs:
            return super().predict(x, batch_size, verbose=verbose, **kwargs)
        if x.shape[0] == 0:
            return np.zeros((0, self.head.units), np.float32)
        run = super().predict
        return predict_by_length(lambda rows: run(rows, batch_size, verbose=verbose, **kwargs), x)

    def predict_proba(self, x, batch_size=None, verbose="auto"):
        """Probabilities, float32 (n, n_classes), columns in the order of `classes_`."""
        probabilities = self.predict(x, batch_size=batch_size, verbose=verbose)
        if len(self.labels) == 2:
            return np.concatenate([1 - probabilities, probabilities], axis=1)
        return probabilities

    def predict_labels(self, x, batch_size=None, verbose="auto"):
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

    def _learn_classes(self, labels):
        if self.labels is None:
            self._set_classes(labels)
        self.labels.encode(labels)

    def _first_pass(self, x, steps_per_epoch):
        """Takes statistics, and of a stream the classes, from the training data if not known."""
        found = set()

        def batches():
            if is_stream(x):
                return stream_batches(x, steps_per_epoch, found)
            return batches_by_length(x)

        for layer, read in ((self.standardization, self.features), (self.characters, self._tokens)):
            if layer is not None and not layer.adapted:
                layer.adapt(map(self._traced(read), batches()))
        if self.labels is None:
            if not found:
                collections.deque(batches(), maxlen=0)
            self._learn_classes(list(found))

    def _traced(self, function):
        if self.compiled and self.run_eagerly:
            return function
        # A partial is new each time: TensorFlow would take the graphs of several models for one
        # function that is traced too often, and warn.
        return tf.function(functools.partial(function), reduce_retracing=True)

    def _tokens(self, inputs):
        return self.embedding.read(inputs).tokens

    def _standardized(self, inputs, training=False):
        x = self.features(inputs, training=training)
        return self.standardization(x) if self.standardize else x

    def _logistic_features(self, inputs):
        """What the logistic head takes: vectors, and n-grams or None."""
        grams = self.characters(self._tokens(inputs)) if self.ngrams else None
        return self._standardized(inputs), grams

    def _compile_unless_compiled(self):
        if not self.compiled:
            two = len(self.labels) == 2
            loss = "binary_crossentropy" if two else "sparse_categorical_crossentropy"
            optimizer = "sgd" if self.logistic else keras.optimizers.Adam(LEARNING_RATE)
            self.compile(optimizer=optimizer, loss=loss, metrics=["accuracy"])

    def _texts(self, x):
        """Strings as the model takes them; texts and tokens share no traced function."""
        x = model_input(x, self.embedding.inputs)
        rank = x.shape.rank if tf.is_tensor(x) else None
        if rank != self._rank:
            self.train_function = self.test_function = self.predict_function = None
        self._rank = rank
        return x
