"""The embedding layer of task models: one vector a token."""

from keras_elmo.embedding.elmo_embedding import ELMoEmbedding


def token_vectors(source, policy, options):
    """The `ELMoEmbedding` of a task model.

    Args:
        source: what `ELMoEmbedding` takes as source, or an ELMoEmbedding.
        policy: dtype policy of a layer that is made here.
        options: dict of further arguments of `ELMoEmbedding`.

    Returns:
        ELMoEmbedding with `output="elmo"` and one mix.

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
