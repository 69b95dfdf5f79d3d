"""The outputs that `ELMoEmbedding` can give, by name."""

from typing import Any

import tensorflow as tf

# These go through the mix, so that there is one of them for each mix.
MIXED = ("default", "elmo")


def output_names(num_layers: int) -> tuple[str, ...]:
    """All names of a source with `num_layers` layers, TF-Hub's first."""
    lstm_outputs = [f"lstm_outputs{layer}" for layer in range(1, num_layers)]
    return (*MIXED, "word_emb", *lstm_outputs, "top", "average", "concat", "layers")


def check_output(output: Any, num_layers: int) -> None:
    """Raises where `output`, a name or a tuple of names, asks for what there is not."""
    names = output if isinstance(output, tuple) else (output,)
    allowed = output_names(num_layers)
    unknown = [name for name in names if name not in allowed]
    if unknown or not names or len(set(names)) < len(names):
        raise ValueError(
            f"`output` must be one of {', '.join(allowed)}, or a list of different ones. "
            f"Received: output={output!r}. "
            "`lstm_outputsK` exists for each of the biLM's LSTM layers K only."
        )


def unmixed_output(name: str, layers: tf.Tensor) -> tf.Tensor:
    """An output that is not in `MIXED`, of layers `(batch, L+1, time, dim)`."""
    if name == "word_emb":
        # Layer 0 is the token vector written twice.
        return layers[:, 0, :, : layers.shape[-1] // 2]
    if name == "top":
        return layers[:, -1]
    if name == "average":
        return tf.reduce_mean(layers, axis=1)
    if name == "concat":
        return tf.concat(tf.unstack(layers, axis=1), axis=-1)
    if name == "layers":
        return tf.identity(layers)
    return layers[:, int(name.removeprefix("lstm_outputs"))]


def output_shape(
    name: str, batch: int | None, time: int | None, num_layers: int, dim: int
) -> tuple[int | None, ...]:
    """The shape of an output; `batch` and `time` may be None."""
    if name == "default":
        return (batch, dim)
    if name == "layers":
        return (batch, num_layers, time, dim)
    widths = {"word_emb": dim // 2, "concat": num_layers * dim}
    return (batch, time, widths.get(name, dim))


def has_mask(name: str) -> bool:
    """Whether an output carries the mask `(batch, time)`: those of shape `(batch, time, width)`."""
    return name not in ("default", "layers")


def pad_time(layers: tf.Tensor, mask: tf.Tensor, time: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """Pads layers `(batch, L+1, t, dim)` and mask `(batch, t)` to `time` positions, at least t."""
    missing = time - tf.shape(mask)[1]
    layers = tf.pad(layers, [[0, 0], [0, 0], [0, missing], [0, 0]])
    mask = tf.pad(mask, [[0, 0], [0, missing]])
    if isinstance(time, int):
        layers.set_shape([None, None, time, None])
        mask.set_shape([None, time])
    return layers, mask
