"""Pictures of training and of vectors, as matplotlib figures: `pip install "keras_elmo[plots]"`.

Import it by itself, `from keras_elmo import plots`; matplotlib is loaded with the first picture.
No function opens a window or changes a setting of matplotlib. Save a figure with `plots.save`.
"""

from keras_elmo.plots.confusion_table import confusion
from keras_elmo.plots.curves import learning_curves
from keras_elmo.plots.mix_weights import layer_weights
from keras_elmo.plots.perplexities import perplexity
from keras_elmo.plots.saving import FORMATS, save
from keras_elmo.plots.vector_map import sense_map

__all__ = [
    "FORMATS",
    "confusion",
    "layer_weights",
    "learning_curves",
    "perplexity",
    "save",
    "sense_map",
]
