"""Softmax heads over the vocabulary, shared by both directions."""

from keras_elmo.language_model.softmax.adaptive import AdaptiveSoftmax
from keras_elmo.language_model.softmax.full import FullSoftmax
from keras_elmo.language_model.softmax.sampled import SampledSoftmax

__all__ = ["AdaptiveSoftmax", "FullSoftmax", "SOFTMAXES", "SampledSoftmax", "make_softmax"]

_HEADS = {head.kind: head for head in (AdaptiveSoftmax, FullSoftmax, SampledSoftmax)}
SOFTMAXES = tuple(_HEADS)


def make_softmax(kind, vocabulary_size, hidden_dim, **kwargs):
    """Build a softmax head.

    Args:
        kind: str, one of `SOFTMAXES`.
        vocabulary_size: int.
        hidden_dim: int, size of the vectors that it predicts from.
        **kwargs: passed on to the head.

    Raises:
        ValueError: `kind` is another.
    """
    if kind not in _HEADS:
        raise ValueError(f"`softmax` must be one of {SOFTMAXES}. Received: {kind!r}.")
    return _HEADS[kind](vocabulary_size, hidden_dim, **kwargs)
