"""`Sequential`: Keras' Sequential that takes texts in every container."""

import keras
import tensorflow as tf

from keras_elmo.export.hub import export_hub
from keras_elmo.export.model import export_model
from keras_elmo.tasks.batches import predict_by_length
from keras_elmo.tasks.inputs import (
    batched,
    can_shuffle,
    check_lengths,
    holds_text,
    is_stream,
    label_array,
    map_batches,
    model_input,
)
from keras_elmo.tasks.saved import check_export_format


@keras.saving.register_keras_serializable(package="keras_elmo")
class Sequential(keras.Sequential):
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

    def __call__(self, inputs, *args, **kwargs):
        """Calls the model on a tensor, or on texts in any container."""
        return super().__call__(self._texts(inputs, only_text=True), *args, **kwargs)

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
        **kwargs,
    ):
        """Trains as `keras.Model.fit` does; its arguments and its History."""
        x, y, sample_weight = self._data(x, y, sample_weight, batch_size)
        return super().fit(
            x,
            y,
            batch_size=None if is_stream(x) else batch_size,
            epochs=epochs,
            verbose=verbose,
            callbacks=callbacks,
            validation_split=validation_split,
            validation_data=self._validation_data(validation_data, batch_size),
            shuffle=shuffle and can_shuffle(x),
            class_weight=class_weight,
            sample_weight=sample_weight,
            **kwargs,
        )

    def evaluate(
        self, x=None, y=None, batch_size=None, verbose="auto", sample_weight=None, **kwargs
    ):
        """Loss and metrics as from `keras.Model.evaluate`."""
        x, y, sample_weight = self._data(x, y, sample_weight, batch_size)
        batch_size = None if is_stream(x) else batch_size
        return super().evaluate(
            x, y, batch_size=batch_size, verbose=verbose, sample_weight=sample_weight, **kwargs
        )

    def predict(self, x, batch_size=None, verbose="auto", **kwargs):
        """The model's outputs, one row a text, as from `keras.Model.predict`.

        Where all outputs are one vector a text, texts in memory are run in order of length.
        """
        x, _, _ = self._data(x, batch_size=batch_size)
        batch_size = None if is_stream(x) else batch_size
        run = super().predict

        def predict(x):
            return run(x, batch_size=batch_size, verbose=verbose, **kwargs)

        return predict_by_length(predict, x) if self._may_reorder(x, kwargs) else predict(x)

    def train_on_batch(self, x, y=None, sample_weight=None, **kwargs):
        """One training step on one batch, as `keras.Model.train_on_batch`."""
        x, y, sample_weight = self._data(x, y, sample_weight)
        return super().train_on_batch(x, y, sample_weight=sample_weight, **kwargs)

    def test_on_batch(self, x, y=None, sample_weight=None, **kwargs):
        """Loss and metrics of one batch, as `keras.Model.test_on_batch`."""
        x, y, sample_weight = self._data(x, y, sample_weight)
        return super().test_on_batch(x, y, sample_weight=sample_weight, **kwargs)

    def predict_on_batch(self, x):
        """The model's outputs for one batch, as `keras.Model.predict_on_batch`."""
        return super().predict_on_batch(self._texts(x))

    def export(self, filepath, format="tf_saved_model", overwrite=False, **kwargs):
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

    def export_hub(self, directory, overwrite=False):
        """Writes the one ELMo layer as a module for TF-Hub: `keras_elmo.export_hub`."""
        export_hub(self, directory, overwrite)

    def _takes_text(self):
        first = self.layers[0] if self.layers else None
        return getattr(first, "compute_dtype", None) == "string"

    def _data(self, x, y=None, sample_weight=None, batch_size=None):
        x = self._texts(x)
        if isinstance(x, tf.data.Dataset):
            return batched(x, batch_size or 32), y, sample_weight
        if is_stream(x):
            return map_batches(x, _labels_of_batch), y, sample_weight
        y, sample_weight = label_array(y), label_array(sample_weight, "sample_weight")
        if hasattr(x, "shape"):
            check_lengths(x, y, sample_weight)
        return x, y, sample_weight

    def _validation_data(self, data, batch_size):
        if data is None or is_stream(data):
            return None if data is None else self._data(data, batch_size=batch_size)[0]
        x, y, sample_weight = self._data(*data)
        return (x, y) if sample_weight is None else (x, y, sample_weight)

    def _texts(self, x, only_text=False):
        """Converts what holds texts; leaves numbers and, in calls, tensors to Keras."""
        if not holds_text(x) and (only_text or not self._takes_text()):
            return x
        inputs = getattr(self.layers[0], "inputs", "auto") if self.layers else "auto"
        x = model_input(x, inputs if isinstance(inputs, str) else "auto")
        if tf.is_tensor(x):
            self._check_kind(x)
        if not self.built and tf.is_tensor(x) and x.shape.rank == 2:
            self.build((None, None))  # tokens: any number a row, not only the first batch's
        return x

    def _may_reorder(self, x, options):
        """Whether rows can be predicted in another order and put back."""
        is_text = tf.is_tensor(x) and x.dtype == tf.string and x.shape[0] > 0
        if not is_text or "steps" in options or not (self.built and self._functional):
            return False
        return all(len(output.shape) == 2 for output in self.outputs)

    def _check_kind(self, x):
        """A Sequential has one input: either texts, (n,) or (n, 1), or tokens, (n, time)."""
        shape = self.input_shape if self.built and self._functional else None
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
