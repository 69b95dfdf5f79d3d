"""The embedding layers of a tagger."""

import os

from keras_elmo.embedding.elmo_embedding import ELMoEmbedding
from keras_elmo.embedding.glove_embedding import GloVeEmbedding
from keras_elmo.embedding.word_vectors import WordVectors
from keras_elmo.tasks.tagger.token_vectors import token_vectors


def embedding_of_tokens(source, policy, options):
    """The ELMoEmbedding of a tagger: one vector for each token of tokenised sentences.

    Args:
        source: what `ELMoEmbedding` takes as source, or an ELMoEmbedding.
        policy: dtype policy of a layer that is made here.
        options: dict of further arguments of `ELMoEmbedding`.

    Raises:
        ValueError: the layer or the options ask for anything else.
    """
    if isinstance(source, ELMoEmbedding):
        layer = token_vectors(source, policy, options)
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
    return token_vectors(source, policy, {"inputs": "tokens", **options})


def glove_embedding(glove, policy):
    """The GloVeEmbedding that stands beside it, of a layer, vectors or a path; None of None."""
    if glove is None or isinstance(glove, GloVeEmbedding):
        return glove
    if not isinstance(glove, (str, os.PathLike, WordVectors)):
        raise TypeError(
            "`glove` must be a GloVeEmbedding, WordVectors, the path of a file, or None. "
            f"Received: {glove!r:.60} of type {type(glove).__name__}."
        )
    return GloVeEmbedding(glove, dtype=policy, name="glove")
