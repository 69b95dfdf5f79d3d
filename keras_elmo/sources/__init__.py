"""Sources: tokens in, all layers and the mask out (`num_layers`, `output_dim`, `call(tokens)`)."""

import os

import keras

from keras_elmo.bilm import BiLM
from keras_elmo.sources.native import NativeSource

__all__ = ["NativeSource", "make_source"]


def make_source(source, fine_tune=False, save_weights=True, dtype=None):
    """Gives the source that `source` stands for.

    Args:
        source: Name of a preset, directory, zip archive, pair of options and weights files, `BiLM`,
            or a source. A `BiLM` is used itself if its `frozen` fits `fine_tune` and it has no
            dropout, otherwise a copy of it is.
        fine_tune: Whether the biLM's weights are created trainable.
        save_weights: Whether saved models contain the biLM's weights.
        dtype: Dtype policy of a biLM that is loaded here; None means Keras' own.

    Returns:
        A Keras layer, tokens to `(layers, mask)`.

    Raises:
        TypeError: If `source` is none of these.
    """
    if isinstance(source, BiLM):
        return NativeSource(_fitting(source, not fine_tune), save_weights=save_weights)
    if isinstance(source, NativeSource):
        return _native(source, not fine_tune, save_weights)
    if isinstance(source, keras.layers.Layer) and hasattr(source, "num_layers"):
        return source
    if not isinstance(source, (str, os.PathLike, tuple, list)):
        raise TypeError(
            "`source` must be the name of a preset, a directory, a zip archive, a pair (options, "
            f"weights), a BiLM or a source. Received: {type(source).__name__}. "
            "Give for example source='english-small'."
        )
    bilm = BiLM.load(source, frozen=not fine_tune, dtype=dtype)
    return NativeSource(bilm, _portable(source), save_weights)


def _native(source, frozen, save_weights):
    """`source` itself or, where its choices differ from those asked for, one like it that fits."""
    bilm = _fitting(source.bilm, frozen)
    if bilm is source.bilm and source.save_weights == save_weights:
        return source
    return NativeSource(bilm, source.place, save_weights)


def _fitting(bilm, frozen):
    """`bilm` itself or, where it is not `frozen` as asked or has dropout, a copy that fits."""
    if bilm.frozen == frozen and not bilm.dropout:
        return bilm
    copy = BiLM(bilm.config, frozen=frozen, dtype=bilm.dtype_policy)
    copy.set_arrays(bilm.arrays())
    return copy


def _portable(place):
    """`place` as JSON can hold it: a string, or a list of two."""
    if isinstance(place, (tuple, list)):
        return [os.fspath(path) for path in place]
    return os.fspath(place)
