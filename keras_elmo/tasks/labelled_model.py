"""What models that learn labels of the user's own kind share."""

import keras

from keras_elmo.tasks.saved import check_export_format, check_keras_path, load_keras_model


class LabelledModel(keras.Model):
    """A model whose classes come from the first `fit`, saved as a `.keras` file.

    Attributes:
        KIND: str, what messages call the model.
        LAYERS: names of the arguments that may be layers.
        EXPORT: function of the model, a directory and `overwrite` that writes its SavedModel.
        labels: Labels, None before the classes are known.
    """

    labels = None

    @property
    def classes_(self):
        """The labels in sorted order, as column order of `predict_proba`; None before `fit`."""
        return None if self.labels is None else self.labels.classes

    def save(self, filepath, **kwargs):
        """Writes the model to a `.keras` file, as `keras.Model.save`; other formats lose it."""
        check_keras_path(filepath)
        super().save(filepath, **kwargs)

    @classmethod
    def load(cls, path):
        """Reads a model that `save(path)` wrote.

        Raises:
            FileNotFoundError: no such file.
            ValueError: the file holds another model, or none.
        """
        return load_keras_model(cls, path)

    def export(self, filepath, format="tf_saved_model", overwrite=False):
        """Writes a SavedModel for TensorFlow Serving, which needs neither this package nor Keras.

        Of a `TextClassifier`: `serving_default`, from `text`, string (batch,), to `label`, string
        (batch,); `probabilities`, float32 (batch, n_classes); and `classes`, string
        (batch, n_classes), the labels that these belong to. `tokens`, from `tokens`, string
        (batch, time), and `sequence_len`, int32 (batch,), to the same. With `inputs="tokens"` it is
        `serving_default` too, with `inputs="text"` left out.

        Of a `Tagger`: `serving_default` and `tokens`, which are the same, from `tokens` and
        `sequence_len` to `labels`, string (batch, time), "" at padding; `probabilities`, float32
        (batch, time, n_classes), 0 at padding; and `classes`.

        Labels that are no strings become strings: "1", "True".

        Args:
            filepath: directory to write; made where it does not exist.
            format: "tf_saved_model" only.
            overwrite: bool, whether a SavedModel that is there is replaced.

        Raises:
            ValueError: the model does not know its classes, or another `format`.
            FileExistsError: the directory is not empty and `overwrite` is False.
        """
        self._check_fitted()
        check_export_format(format)
        self.EXPORT(self, filepath, overwrite)

    @classmethod
    def from_config(cls, config, custom_objects=None):
        layers = {
            name: keras.saving.deserialize_keras_object(config[name], custom_objects)
            for name in cls.LAYERS
            if isinstance(config[name], dict)
        }
        return cls(**{**config, **layers})

    def get_build_config(self):
        return None  # the constructor builds a model whose classes are known

    def _check_fitted(self):
        if self.labels is None:
            raise ValueError(
                f"The {self.KIND} does not know its classes yet. Call `fit` first, or construct it "
                "with `classes=[...]`."
            )
