"""What models that learn labels of the user's own kind share."""

import os
from typing import Any

import keras

from keras_elmo.export.hub import export_hub
from keras_elmo.tasks.model_files import check_export_format, check_keras_file, check_keras_path


class LabelledModel(keras.Model):
    """A model whose classes come from the first `fit`, saved as a `.keras` file.

    Attributes:
        KIND: str, what messages call the model.
        LAYERS: names of the arguments that may be layers.
        EXPORT: function of the model, a directory and `overwrite` that writes its SavedModel.
        labels: `Labels`, None before the classes are known.
    """

    labels: Any = None

    @property
    def classes_(self) -> tuple | None:
        """The labels in sorted order, as column order of `predict_proba`; None before `fit`."""
        return None if self.labels is None else self.labels.classes

    def compute_output_spec(
        self, inputs: keras.KerasTensor, training: bool | None = None
    ) -> keras.KerasTensor:
        return keras.KerasTensor(self.compute_output_shape(inputs.shape), "float32")

    def save(self, filepath: str | os.PathLike, **kwargs: Any) -> None:
        """Writes the model to a `.keras` file, as `keras.Model.save`; other formats lose it."""
        check_keras_path(filepath)
        super().save(filepath, **kwargs)

    @classmethod
    def load(cls, path: str | os.PathLike) -> "LabelledModel":
        """Reads a model that `save(path)` wrote.

        Raises:
            FileNotFoundError: no such file.
            ValueError: the file holds another model, or none.
        """
        check_keras_file(path)
        model = keras.models.load_model(path)
        if not isinstance(model, cls):
            raise ValueError(
                f"`path` must hold a {cls.__name__}. Received: a {type(model).__name__} in {path}. "
                "Load it with `keras.models.load_model`."
            )
        return model

    def export(
        self,
        filepath: str | os.PathLike,
        format: str = "tf_saved_model",
        overwrite: bool = False,
    ) -> None:
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

    def export_hub(self, directory: str | os.PathLike, overwrite: bool = False) -> None:
        """Writes the ELMo layer as a module for TF-Hub: `keras_elmo.export_hub`."""
        export_hub(self, directory, overwrite)

    @classmethod
    def from_config(cls, config, custom_objects=None):
        layers = {
            name: keras.saving.deserialize_keras_object(config[name], custom_objects)
            for name in cls.LAYERS
            if isinstance(config[name], dict)
        }
        return cls(**{**config, **layers})

    def get_build_config(self) -> None:
        return None  # the constructor builds a model whose classes are known

    def _check_fitted(self):
        if self.labels is None:
            raise ValueError(
                f"The {self.KIND} does not know its classes yet. Call `fit` first, or construct it "
                "with `classes=[...]`."
            )
