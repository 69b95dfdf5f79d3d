"""Softmax heads over the vocabulary, shared by both directions."""

from typing import Any

from keras_elmo.basics.checks import check_choice

SOFTMAXES = ("adaptive", "full", "sampled")


def make_softmax(kind: str, vocabulary_size: int, hidden_dim: int, **kwargs: Any) -> Any:
    """Build a softmax head.

    Args:
        kind: one of `SOFTMAXES`.
        vocabulary_size: number of words, marks included.
        hidden_dim: size of the vectors that it predicts from.
        **kwargs: passed on to the head.

    Raises:
        ValueError: `kind` is another.
    """
    # Here, since the command line needs the kinds' names before it needs TensorFlow.
    from keras_elmo.language_model.softmax.adaptive import AdaptiveSoftmax
    from keras_elmo.language_model.softmax.full import FullSoftmax
    from keras_elmo.language_model.softmax.sampled import SampledSoftmax

    check_choice("softmax", kind, SOFTMAXES)
    heads = {head.kind: head for head in (AdaptiveSoftmax, FullSoftmax, SampledSoftmax)}
    return heads[kind](vocabulary_size, hidden_dim, **kwargs)
