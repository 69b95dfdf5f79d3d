"""Training that starts from a model that exists."""

import dataclasses
import os
from typing import Any, NamedTuple

import numpy as np

from keras_elmo.bilm.bilm import BiLM
from keras_elmo.language_model.bidirectional import BidirectionalLanguageModel
from keras_elmo.language_model.files import load_language_model
from keras_elmo.language_model.names import SOFTMAX
from keras_elmo.language_model.softmax.adaptive import AdaptiveSoftmax
from keras_elmo.presets.locate import locate
from keras_elmo.pretraining.bilm_tf import is_bilm_tf, load_bilm_tf


class Initialization(NamedTuple):
    """What a model took over; the counts sum to the size of its vocabulary.

    Attributes:
        words_kept: words whose softmax row is the source's.
        words_restarted: words that the source knows too, but with a row that does not fit:
            in another cluster of an adaptive softmax.
        words_new: words that the source does not know.
    """

    words_kept: int
    words_restarted: int
    words_new: int


class _Cluster(NamedTuple):
    """A softmax over the words of ids `first` to `last - 1`, and maybe entries after them."""

    first: int
    last: int
    part: object


def load_source(
    place: Any, vocabulary_path: str | os.PathLike | None = None, dtype: Any = None
) -> BidirectionalLanguageModel | BiLM:
    """Load what training can start from.

    Args:
        place: name of a preset; a directory that `save_language_model` or bilm-tf's trainer
            wrote; or a biLM without a softmax, as `BiLM.load` takes it.
        vocabulary_path: path of the vocabulary file of a bilm-tf checkpoint, which does not hold
            its words; None for all others, which do.
        dtype: dtype policy of the layers, or None for Keras' default.

    Returns:
        What is there; a BiLM where there is no softmax.

    Raises:
        FileNotFoundError: nothing is found at `place`, or a file is missing there.
        ValueError: the files are not what they should be, or `vocabulary_path` is missing or of
            no use.
    """
    directory = locate(place).directory
    if directory is not None and directory.joinpath(SOFTMAX).is_file():
        _check_no_vocabulary(vocabulary_path, place)
        return load_language_model(place, dtype=dtype)
    if isinstance(directory, os.PathLike) and is_bilm_tf(directory):
        if vocabulary_path is None:
            raise ValueError(
                f"The vocabulary file that {place} was trained with must be given, for a bilm-tf "
                "checkpoint does not hold its words. Received: none. Name it (`vocabulary_path`, "
                "`--init-vocabulary`), or give options and weights in a directory of their own for "
                "the biLM alone."
            )
        return load_bilm_tf(place, vocabulary_path, dtype=dtype)
    _check_no_vocabulary(vocabulary_path, place)
    return BiLM.load(place, dtype=dtype)


def _check_no_vocabulary(vocabulary_path, place):
    if vocabulary_path is not None:
        raise ValueError(
            "A vocabulary file (`vocabulary_path`, `--init-vocabulary`) goes with a bilm-tf "
            f"checkpoint only. Received: {os.fspath(vocabulary_path)!r} for {place!r}, which has "
            "its own vocabulary or needs none. Leave it out."
        )


def initialize(
    model: BidirectionalLanguageModel, source: BidirectionalLanguageModel | BiLM
) -> Initialization:
    """Start a model from another one's weights.

    The biLM is copied. So are the softmax's weights and biases of the words that both
    vocabularies hold, the marks among them; the other words of a cluster start from the mean of
    its copied rows, as words of average likelihood. An adaptive softmax has its clusters matched
    in order as far as their sizes fit: head with head or with a whole vocabulary, tail k with
    tail k, whose projection and entry in the head are copied too. What fits nothing keeps the
    values that it was made with.

    Args:
        model: changed in place.
        source: a BiLM starts only the biLM.

    Raises:
        TypeError: `source` is neither.
        ValueError: the biLMs are not of one config; nothing is changed then.
    """
    if not isinstance(source, (BiLM, BidirectionalLanguageModel)):
        raise TypeError(
            "`source` must be a BidirectionalLanguageModel or a BiLM. Received: "
            f"{type(source).__name__}. Load files with `load_source`."
        )
    bilm = source if isinstance(source, BiLM) else source.bilm
    _check_configs(model.bilm.config, bilm.config)
    model.bilm.set_arrays(bilm.arrays())
    if isinstance(source, BiLM):
        return Initialization(0, 0, len(model.vocabulary))
    return _initialize_softmax(model, source)


def _check_configs(config, other):
    names = [field.name for field in dataclasses.fields(config) if field.name != "tokenizer"]
    differing = [name for name in names if getattr(config, name) != getattr(other, name)]
    if differing:
        listed = "; ".join(
            f"`{name}` is {getattr(config, name)}, the source's is {getattr(other, name)}"
            for name in differing
        )
        raise ValueError(
            f"A biLM must have the options of the one that it starts from. Received: {listed}. "
            "Give the model the source's values; on the command line leave these options out."
        )


def _initialize_softmax(model, source):
    place = {word: i for i, word in enumerate(source.vocabulary.words)}
    ids = np.array([place.get(word, -1) for word in model.vocabulary.words])
    kept = 0
    pairs = _matching(_clusters(model.softmax), _clusters(source.softmax))
    for cluster, other in pairs:
        kept += _copy_rows(cluster, other, ids[cluster.first : cluster.last])
    if len(pairs) > 1:
        _copy_tails(model.softmax, source.softmax, len(pairs) - 1)
    known = int((ids >= 0).sum())
    return Initialization(kept, known - kept, len(ids) - known)


def _clusters(softmax):
    """The parts of a softmax, the one over the vectors themselves first."""
    if not isinstance(softmax, AdaptiveSoftmax):
        return [_Cluster(0, softmax.vocabulary_size, softmax)]
    edges = (0, *softmax.cutoffs, softmax.vocabulary_size)
    parts = (softmax.head, *softmax.tails)
    return [_Cluster(*row) for row in zip(edges[:-1], edges[1:], parts, strict=True)]


def _matching(clusters, others):
    """Pairs of clusters in order, up to the first two whose rows are of different sizes."""
    pairs = []
    for cluster, other in zip(clusters, others, strict=False):
        if cluster.part.hidden_dim != other.part.hidden_dim:
            break
        pairs.append((cluster, other))
    return pairs


def _copy_rows(cluster, other, ids):
    """Fill the words of a cluster, whose ids in the source are given; returns how many are kept."""
    kept = (ids >= other.first) & (ids < other.last)
    if not kept.any():
        return 0
    filled = []
    for values, source in zip(cluster.part.rows(), other.part.rows(), strict=True):
        values = values.copy()
        words = values[: len(ids)]
        words[kept] = source[ids[kept] - other.first]
        words[~kept] = words[kept].mean(axis=0)
        filled.append(values)
    cluster.part.set_rows(*filled)
    return int(kept.sum())


def _copy_tails(softmax, source, n_tails):
    """Copy the projections of the first tails, and their entries behind the words of the head."""
    for projection, other in zip(
        softmax.projections[:n_tails], source.projections[:n_tails], strict=True
    ):
        projection.assign(np.asarray(other))
    filled = []
    for values, other in zip(softmax.head.rows(), source.head.rows(), strict=True):
        values = values.copy()
        words, words_there = softmax.cutoffs[0], source.cutoffs[0]
        values[words : words + n_tails] = other[words_there : words_there + n_tails]
        filled.append(values)
    softmax.head.set_rows(*filled)
