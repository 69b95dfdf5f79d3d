"""Sources: tokens in, all layers and the mask out (`num_layers`, `output_dim`, `call(tokens)`)."""

import os
from typing import Any

import keras

from keras_elmo.bilm.bilm import BiLM
from keras_elmo.embedding.sources.hub import HubSource
from keras_elmo.embedding.sources.native import NativeSource
from keras_elmo.presets.locate import locate

__all__ = ["HubSource", "NativeSource", "make_source"]


def make_source(
    source: Any,
    fine_tune: bool = False,
    save_weights: bool = True,
    dtype: Any = None,
    native: bool = False,
) -> keras.layers.Layer:
    """Gives the source that `source` stands for.

    Args:
        source: Name of a preset, directory, archive, pair of options and weights files; handle,
            directory or archive of a TF-Hub module; `BiLM`; or a source. A `BiLM` is used itself
            if its `frozen` fits `fine_tune` and it has no dropout, otherwise a copy of it is.
        fine_tune: Whether the biLM's weights are created trainable.
        save_weights: Whether saved models contain the biLM's weights.
        dtype: Dtype policy of a biLM that is loaded here; None means Keras' own.
        native: Whether a TF-Hub module is converted to a `BiLM`.

    Returns:
        A Keras layer, tokens to `(layers, mask)`.

    Raises:
        TypeError: If `source` is none of these.
        ValueError: If a TF-Hub module is to be fine-tuned as it is, or a fine-tuned biLM is not to
            be saved.
    """
    if fine_tune and not save_weights:
        raise ValueError(
            "`save_frozen=False` must not be used with `fine_tune=True`: a biLM that is "
            "trained differs from its files. Received: both. Leave `save_frozen` at True."
        )
    if locate(source).is_module:
        source = HubSource(source)
    if isinstance(source, HubSource):
        if not native:
            return _not_tuned(source, fine_tune)
        return _converted(source, not fine_tune, save_weights, dtype)
    if isinstance(source, BiLM):
        return NativeSource(_fitting(source, not fine_tune), save_weights=save_weights)
    if isinstance(source, NativeSource):
        return _native(source, not fine_tune, save_weights)
    if isinstance(source, keras.layers.Layer) and hasattr(source, "num_layers"):
        return source
    if not isinstance(source, (str, os.PathLike, tuple, list)):
        raise TypeError(
            "`source` must be the name of a preset, a directory, an archive, a pair (options, "
            "weights), a TF-Hub module, a BiLM or a source. "
            f"Received: {type(source).__name__}. "
            "Give for example source='english-small'."
        )
    bilm = BiLM.load(source, frozen=not fine_tune, dtype=dtype)
    return NativeSource(bilm, _portable(source), save_weights)


def _converted(hub_source, frozen, save_weights, dtype):
    if not save_weights:
        raise ValueError(
            "`save_frozen=False` must not be used with `native=True`: a module's handle does not "
            "lead to the biLM that it is converted to. Received: both. Convert it once "
            "(`keras_elmo convert MODULE DIR`) and give the directory as `source`."
        )
    converted = hub_source.to_bilm()
    bilm = BiLM(converted.config, frozen=frozen, dtype=dtype)
    bilm.set_arrays(converted.arrays())
    source = NativeSource(bilm)
    source.scalars, source.gamma = hub_source.scalars, hub_source.gamma
    return source


def _not_tuned(source, fine_tune):
    if fine_tune:
        raise ValueError(
            "`fine_tune=True` must have a biLM of ours. Received: a TF-Hub module, whose variables "
            "TensorFlow cannot train again. Convert it: `native=True`, or `keras_elmo convert`."
        )
    return source


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
