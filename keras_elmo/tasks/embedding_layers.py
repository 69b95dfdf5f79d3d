"""The embedding layers of task models."""

import os

from keras_elmo.embedding.elmo_embedding import ELMoEmbedding
from keras_elmo.embedding.glove_embedding import GloVeEmbedding
from keras_elmo.embedding.word_vectors import WordVectors


def elmo_layer(source, policy, options):
    """The `ELMoEmbedding` of a task model: `output="elmo"`, one mix.

    Args:
        source: what `ELMoEmbedding` takes as source, or an ELMoEmbedding.
        policy: dtype policy of a layer that is made here.
        options: dict of further arguments of `ELMoEmbedding`.

    Raises:
        ValueError: the layer or the options ask for anything else.
    """
    fixed = [name for name in ("output", "num_mixes", "keep_boundaries") if name in options]
    if fixed:
        raise ValueError(
            f"`{fixed[0]}` must be left out: a task model takes one mixed vector a token. "
            f"Received: {fixed[0]}={options[fixed[0]]!r}. Build the model from an ELMoEmbedding "
            "and layers of your own."
        )
    if not isinstance(source, ELMoEmbedding):
        return ELMoEmbedding(source, output="elmo", dtype=policy, name="embedding", **options)
    if source.output_names != "elmo" or source.num_mixes != 1 or options:
        raise ValueError(
            'An ELMoEmbedding as `source` must have `output="elmo"`, one mix, and no further '
            f"options. Received: output={source.output_names!r}, num_mixes={source.num_mixes}, "
            f"options {sorted(options)}."
        )
    return source


def elmo_layer_of_tokens(source, policy, options):
    """As `elmo_layer`, for sentences that are split already: one vector for each token."""
    if isinstance(source, ELMoEmbedding):
        layer = elmo_layer(source, policy, options)
        kept = {"inputs": layer.inputs, "max_tokens": layer.max_tokens}
        if kept != {"inputs": "tokens", "max_tokens": None} or layer.keep_boundaries:
            raise ValueError(
                'An ELMoEmbedding as `source` must have `inputs="tokens"`, and neither '
                f"`max_tokens` nor `keep_boundaries`: a tagger has a label for each token. "
                f"Received: {kept}, keep_boundaries={layer.keep_boundaries}."
            )
        return layer
    fixed = [name for name in ("inputs", "max_tokens", "tokenizer") if name in options]
    if fixed:
        raise ValueError(
            f"`{fixed[0]}` must be left out: a tagger takes tokens, and labels all of them. "
            f"Received: {fixed[0]}={options[fixed[0]]!r}. Split or cut sentences before."
        )
    return elmo_layer(source, policy, {"inputs": "tokens", **options})


def glove_layer(glove, policy):
    """The GloVeEmbedding that stands beside ELMo's, of a layer, vectors or a path; None of None."""
    if glove is None or isinstance(glove, GloVeEmbedding):
        return glove
    if not isinstance(glove, (str, os.PathLike, WordVectors)):
        raise TypeError(
            "`glove` must be a GloVeEmbedding, WordVectors, the path of a file, or None. "
            f"Received: {glove!r:.60} of type {type(glove).__name__}."
        )
    return GloVeEmbedding(glove, dtype=policy, name="glove")
