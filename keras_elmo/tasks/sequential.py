"""`Sequential`: Keras' Sequential that takes texts in every container."""

import os
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from keras_elmo.basics.keras_internals import is_functional
from keras_elmo.export.hub import export_hub
from keras_elmo.export.model import export_model
from keras_elmo.tasks.cache.feature_cache import UsesFeatureCache
from keras_elmo.tasks.inputs import (
    can_shuffle,
    check_lengths,
    is_stream,
    label_array,
    map_batches,
    predict_by_length,
    read_stream,
)
from keras_elmo.tasks.model_files import check_export_format
from keras_elmo.text.containers import as_text
from keras_elmo.text.inputs import are_tokens, read_tokens

BATCH = 32  # of single texts in a dataset: what Keras takes for arrays


@keras.saving.register_keras_serializable(package="keras_elmo")
class Sequential(UsesFeatureCache, keras.Sequential):
    """A `keras.Sequential` whose fit, evaluate and predict take texts in any container.

    `x` may be a list, tuple, NumPy array (object, `<U` or bytes), pandas Series, one-column
    DataFrame, string tensor, tf.data.Dataset, PyDataset or generator; tokens may be a list of
    lists, a RaggedTensor or a padded array; labels may be a list, an array or a pandas Series.
    Everything else is Keras' own: arguments, callbacks, saving. `keras.models.clone_model` returns
    a plain `keras.Sequential`.

    Args:
        layers: list of layers, the first usually an `ELMoEmbedding`.
        trainable: bool, whether the layers' weights train.
        name: str or None, the model's name.

    Raises:
        ValueError: missing texts, or texts and labels of different lengths.
        TypeError: texts or labels of a type that cannot be converted.

    Example:

    ```python
    model = keras_elmo.Sequential([keras_elmo.ELMoEmbedding(),
                                   keras.layers.Dense(256, activation="relu"),
                                   keras.layers.Dense(1, activation="sigmoid")])
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    model.fit(["free entry, text WIN", "see you at 8"], [1, 0])
    ```
    """

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Calls the model on a tensor, or on texts in any container."""
        inputs = self._read(inputs) if _holds_text(inputs) else inputs
        return super().__call__(inputs, *args, **kwargs)

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
        **kwargs: Any,
    ) -> keras.callbacks.History:
        """Trains as `keras.Model.fit` does; its arguments and its History."""
        x, y, sample_weight = self._data(x, y, sample_weight, batch_size)
        if validation_data is not None:
            x_val, y_val, weights = keras.utils.unpack_x_y_sample_weight(validation_data)
            x_val, y_val, weights = self._data(x_val, y_val, weights, batch_size)
            validation_data = keras.utils.pack_x_y_sample_weight(x_val, y_val, weights)
        return self.keras_methods().fit(
            x,
            y,
            batch_size=None if is_stream(x) else batch_size,
            epochs=epochs,
            verbose=verbose,
            callbacks=callbacks,
            validation_split=validation_split,
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
        """Loss and metrics as from `keras.Model.evaluate`."""
        x, y, sample_weight = self._data(x, y, sample_weight, batch_size)
        batch_size = None if is_stream(x) else batch_size
        return self.keras_methods().evaluate(
            x, y, batch_size=batch_size, verbose=verbose, sample_weight=sample_weight, **kwargs
        )

    def predict(
        self, x: Any, batch_size: int | None = None, verbose: int | str = "auto", **kwargs: Any
    ) -> Any:
        """The model's outputs, one row a text, as from `keras.Model.predict`.

        Where all outputs are one vector a text, texts in memory are run in order of length.
        """
        x, _, _ = self._data(x, batch_size=batch_size)
        batch_size = None if is_stream(x) else batch_size
        run = self.keras_methods().predict

        def predict(x):
            return run(x, batch_size=batch_size, verbose=verbose, **kwargs)

        if "steps" in kwargs or not self._may_reorder(x):
            return predict(x)
        return predict_by_length(predict, x, _lengths(x))

    def train_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, **kwargs: Any
    ) -> Any:
        """One training step on one batch, as `keras.Model.train_on_batch`."""
        x, y, sample_weight = self._data(x, y, sample_weight)
        return super().train_on_batch(x, y, sample_weight=sample_weight, **kwargs)

    def test_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None, **kwargs: Any) -> Any:
        """Loss and metrics of one batch, as `keras.Model.test_on_batch`."""
        x, y, sample_weight = self._data(x, y, sample_weight)
        return super().test_on_batch(x, y, sample_weight=sample_weight, **kwargs)

    def predict_on_batch(self, x: Any) -> Any:
        """The model's outputs for one batch, as `keras.Model.predict_on_batch`."""
        return super().predict_on_batch(self._data(x)[0])

    def export(
        self,
        filepath: str | os.PathLike,
        format: str = "tf_saved_model",
        overwrite: bool = False,
        **kwargs: Any,
    ) -> None:
        """Writes a SavedModel for TensorFlow Serving, which needs neither this package nor Keras.

        Signature `serving_default`: `text`, string (batch,), to `output`, what the model gives. A
        model that was built on tokens has the input `tokens`, string (batch, time), padded with ""
        at the end. A model that takes no strings is exported by `keras.Sequential.export`.

        Args:
            filepath: directory to write; made where it does not exist.
            format: "tf_saved_model" only, of a model that takes strings.
            overwrite: bool, whether a SavedModel that is there is replaced.
            **kwargs: for `keras.Sequential.export`.

        Raises:
            ValueError: the model was not called yet, or another `format`.
            FileExistsError: the directory is not empty and `overwrite` is False.
        """
        if not self._takes_text():
            return super().export(filepath, format=format, **kwargs)
        check_export_format(format, kwargs)
        export_model(self, filepath, overwrite)

    def export_hub(self, directory: str | os.PathLike, overwrite: bool = False) -> None:
        """Writes the one ELMo layer as a module for TF-Hub: `keras_elmo.export_hub`."""
        export_hub(self, directory, overwrite)

    def _takes_text(self):
        first = self.layers[0] if self.layers else None
        return getattr(first, "compute_dtype", None) == "string"

    def _data(self, x, y=None, sample_weight=None, batch_size=None):
        """Texts or tokens, numbers and weights as Keras takes them; or a stream of these."""
        takes_text = self._takes_text()
        if isinstance(x, tf.data.Dataset):
            return read_stream(x, _flat, batch_size or BATCH), y, sample_weight
        if is_stream(x):
            x = read_stream(x, self._read, BATCH) if takes_text else x
            return map_batches(x, _labels_of_batch), y, sample_weight
        x = self._read(x) if takes_text or _holds_text(x) else x
        y, sample_weight = label_array(y), label_array(sample_weight, "sample_weight")
        if hasattr(x, "shape"):
            check_lengths(x, y, sample_weight)
        return x, y, sample_weight

    def _read(self, x):
        """Texts (n,), or tokens (n, time) with time >= 2, since one column would read as texts."""
        kind = getattr(self.layers[0], "inputs", "auto") if self.layers else "auto"
        if not are_tokens(x, kind if isinstance(kind, str) else "auto"):
            x = as_text(x)
        else:
            x = read_tokens(x).tokens.to_tensor("")
            x = tf.pad(x, [[0, 0], [0, max(0, 2 - x.shape[1])]], constant_values="")
            if not self.built:
                self.build((None, None))  # any number of tokens a row, not only the first batch's
        self._check_kind(x)
        return x

    def _may_reorder(self, x):
        """Whether rows can be predicted in another order and put back."""
        is_text = tf.is_tensor(x) and x.dtype == tf.string and x.shape[0] > 0
        return is_text and is_functional(self) and all(len(y.shape) == 2 for y in self.outputs)

    def _check_kind(self, x):
        """A Sequential has one input: either texts, (n,) or (n, 1), or tokens, (n, time)."""
        shape = self.input_shape if is_functional(self) else None
        takes_tokens = shape is not None and len(shape) == 2 and shape[1] != 1
        if shape is not None and takes_tokens != (x.shape.rank == 2):
            kinds = ("texts", "tokens")
            raise ValueError(
                f"`x` must hold {kinds[takes_tokens]}, as this model was built on them. "
                f"Received: {kinds[not takes_tokens]}, shape {x.shape}. Make another model for "
                "them from the same layers, or give one form only."
            )


def _labels_of_batch(batch):
    if isinstance(batch, tuple):
        return (batch[0], *(label_array(values) for values in batch[1:]))
    return batch


def _holds_text(x):
    """Whether `x` is a Python, NumPy or pandas container whose first entry is a string."""
    if isinstance(x, (list, tuple)):
        return len(x) > 0 and (isinstance(x[0], (str, bytes)) or _holds_text(x[0]))
    if isinstance(x, np.ndarray) or hasattr(x, "iloc"):
        array = np.asarray(x)
        first = array.flat[0] if array.size else None
        return array.dtype.kind in "UST" or isinstance(first, (str, bytes, list, tuple))
    return False


def _flat(x):
    """A batch of texts in one dimension; tokens and numbers as they are."""
    is_column = tf.is_tensor(x) and x.dtype == tf.string and x.shape.rank == 2 and x.shape[1] == 1
    return x[:, 0] if is_column else x


def _lengths(x):
    """The lengths of texts (n,) in bytes, or of tokens (n, time) in tokens."""
    is_text = x.shape.rank == 1
    return (tf.strings.length(x) if is_text else tf.math.count_nonzero(x != "", axis=1)).numpy()
