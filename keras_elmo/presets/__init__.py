"""Where models come from: what the package ships, what others have published, what is on disk."""

from keras_elmo.presets.opening import PRESETS, ModelFiles, open_model, preset_directory

__all__ = ["ModelFiles", "PRESETS", "open_model", "preset_directory"]
