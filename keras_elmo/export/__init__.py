"""SavedModels that serve without this package: modules for TF-Hub, models for TF Serving."""

from keras_elmo.export.classifier import export_classifier
from keras_elmo.export.hub import export_hub
from keras_elmo.export.model import export_model
from keras_elmo.export.tagger import export_tagger

__all__ = ["export_classifier", "export_hub", "export_model", "export_tagger"]
