"""What models that learn labels of the user's own kind share."""

import keras

from keras_elmo.tasks.saved import check_keras_path, load_keras_model


class LabelledModel(keras.Model):
    """A model whose classes come from the first `fit`, saved as a `.keras` file.

    Attributes:
        KIND: str, what messages call the model.
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

    def get_build_config(self):
        return None  # the constructor builds a model whose classes are known

    def _check_fitted(self):
        if self.labels is None:
            raise ValueError(
                f"The {self.KIND} does not know its classes yet. Call `fit` first, or construct it "
                "with `classes=[...]`."
            )
