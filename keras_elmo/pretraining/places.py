"""Where a run writes, as can be checked without TensorFlow."""

import os

from keras_elmo.basics.files import check_output_directory
from keras_elmo.language_model.names import MODEL_FILES
from keras_elmo.pretraining.options import PretrainingOptions
from keras_elmo.pretraining.training_log import LOG

CHECKPOINTS = "checkpoints"
LAST = "last"
OUTPUT_FILES = (*MODEL_FILES, LOG, CHECKPOINTS, LAST)


def check_places(
    output: str, options: PretrainingOptions, resume: bool = False, overwrite: bool = False
) -> None:
    """Raises an OSError or a ValueError where a run could not or should not write."""
    if resume and overwrite:
        raise ValueError("`resume` and `overwrite` exclude each other. Received both. Give one.")
    check_output_directory(output, overwrite, OUTPUT_FILES, resume)
    _check_tensorboard(options.tensorboard)
    source = options.init_from
    if resume or not isinstance(source, (str, os.PathLike)):
        return
    if os.path.isdir(source) and os.path.isdir(output) and os.path.samefile(source, output):
        raise ValueError(
            f"`init_from` and `output` must be two directories. Received: {output} twice, whose "
            "model would be replaced. Give another `output`."
        )


def _check_tensorboard(place):
    """The first part of the path that exists must be a directory to write in."""
    while place and not os.path.exists(place):
        place = os.path.dirname(place) or "."
    if place and not (os.path.isdir(place) and os.access(place, os.W_OK)):
        raise NotADirectoryError(
            f"`tensorboard`: {place} is no directory that can be written in. Give one."
        )
