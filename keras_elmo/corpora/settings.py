"""What a run over a corpus must agree with to go on, which its file tells too."""

from importlib import metadata

# What to keep of the biLM's layers, and the output of ELMoEmbedding that gives it.
LAYERS = {
    "all": "layers",
    "top": "top",
    "average": "average",
    "elmo": "elmo",
    "default": "default",
}


def settings_of(layer, form, dtype, max_tokens):
    """Everything that vectors depend on, but the text.

    Args:
        layer: ELMoEmbedding that makes them.
        form: Format of the file.
        dtype: Dtype of the vectors in the file.
        max_tokens: Tokens of a line that are kept; None keeps all.

    Returns:
        dict that JSON can hold.
    """
    names = {output: name for name, output in LAYERS.items()}
    settings = {
        "layers": names[layer.output_names],
        "dtype": dtype,
        "format": form,
        "tokenizer": layer.tokenizer,
        "max_tokens": max_tokens,
        "keep_boundaries": layer.keep_boundaries,
        "bilm_sha256": layer.source.fingerprint(),
        "bilm_dtype": layer.source.compute_dtype,
        "keras_elmo_version": metadata.version("keras_elmo"),
    }
    if layer.mixes:
        settings["layer_weights"] = layer.layer_weights.tolist()
        settings["gamma"] = layer.gamma
        settings["layer_norm"] = layer.mixes[0].layer_norm
    return settings


def differences(earlier, now):
    """The settings that differ, in words, list of str.

    One that only one of the two has (the mix) is there by another that differs (`layers`).
    """
    return [
        f"`{name}` was {value!r}, now {now[name]!r}"
        for name, value in earlier.items()
        if name in now and value != now[name]
    ]
