"""Pretraining as one call."""

import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from keras_elmo.language_model.results import Evaluation
from keras_elmo.pretraining.options import PretrainingOptions
from keras_elmo.pretraining.prepare import prepare
from keras_elmo.pretraining.run import Report
from keras_elmo.pretraining.strategy import make_strategy
from keras_elmo.pretraining.training_log import read_log


class Pretrained(NamedTuple):
    """What a pretraining came to.

    Attributes:
        output: directory of the model, which `ELMoEmbedding` takes as its source.
        step: steps that are done.
        best: Evaluation of the model in `output`; None without held-out text.
        history: rows of `training.csv`, those before an interruption too.
    """

    output: str
    step: int
    best: Evaluation | None
    history: list[dict[str, float | None]]


def pretrain(
    text: str | os.PathLike | Sequence[str | os.PathLike],
    output: str | os.PathLike,
    *,
    resume: bool = False,
    overwrite: bool = False,
    progress: Callable[[Report], Any] | None = None,
    **options: Any,
) -> Pretrained:
    r"""Trains a bidirectional language model on text files; its biLM is a source for every layer.

    The same as the command `keras_elmo-train bilm`, with the same options: `lstm_dim=512` for
    `--lstm-dim 512`. The loss is the sum of the next-word losses of both directions, which share
    the token encoder and the softmax. Peters et al. 2018, section 3.1.

    `output` gets the best model by `held_out` text (without any, the last): `options.json` and
    `weights.hdf5` of the biLM, `vocab.txt` and `softmax.hdf5` of its language models, and the log
    `training.csv` and checkpoints. Every file appears whole. After an interruption of any kind
    the same call with `resume=True` goes on from the newest checkpoint, to the same weights.

    Args:
        text: path of a UTF-8 file of one sentence a line, gzip where its name ends in `.gz`; a
            pattern such as `"corpus/*.txt.gz"`; or a list of these.
        output: path of the directory to write.
        resume: whether to go on from the newest whole checkpoint in `output`; where there is
            none, the run starts at its beginning.
        overwrite: whether to take the place of an earlier run in `output`.
        progress: function that is called every `report_every` steps, at each evaluation and at
            the end, with a Report: `step` of `steps`, `seconds_left`, the `row` of the log,
            `evaluation`, and whether it is the `best`. What it raises ends the run.
        **options: fields of `keras_elmo.pretraining.options.PretrainingOptions`: `held_out`,
            `epochs` or `steps`, `lstm_dim`, `softmax`, `init_from`, `patience`, `seed` ...;
            `keras_elmo-train bilm --help` tells what each is.

    Returns:
        Pretrained.

    Raises:
        OSError: text is missing or cannot be read; `output` holds something else, or cannot be
            written; the disk is full, and then free space and resume.
        ValueError: an option is out of range or would have no effect; text, vocabulary or
            checkpoint are damaged, or a run is resumed with other options; the message lists them.
        TypeError: an option is unknown.
        FloatingPointError: the loss is NaN or infinite; the last checkpoint is kept.

    Example:

    >>> with open("text.txt", "w") as file:
    ...     _ = file.write("the cat sat\nthe dog sat\n" * 20)
    >>> sizes = {"lstm_dim": 8, "projection_dim": 4, "filters": ((1, 4),), "batch_size": 2}
    >>> found = keras_elmo.pretrain("text.txt", "my-bilm", steps=2, **sizes)
    >>> found.step, len(found.history)
    (2, 1)
    >>> keras_elmo.ELMoEmbedding("my-bilm")(["the cat"]).shape
    TensorShape([1, 8])
    """
    checked = PretrainingOptions(**options)
    strategy = make_strategy(checked.strategy)
    prepared = prepare(text, output, checked, strategy, resume, overwrite)
    for remark in prepared.remarks:
        warnings.warn(f"{remark}", stacklevel=2)
    run = prepared.run
    run.check_machines()
    for report in run.reports():
        if progress is not None:
            progress(report)
    return Pretrained(run.output, run.trainer.done, run.best, read_log(run.log_path))
