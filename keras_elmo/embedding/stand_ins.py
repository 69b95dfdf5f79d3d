"""What stands in for a layer: features that are kept, or what is exported in its place."""

import contextlib
import contextvars
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import keras
import tensorflow as tf

_stand_ins: contextvars.ContextVar[dict] = contextvars.ContextVar("stand_ins", default={})  # noqa: B039 (never changed)


class StandIn(Protocol):
    """What puts out for an `ELMoEmbedding` what the layer itself would put out."""

    def outputs(self, tokens: tf.RaggedTensor, time: int | tf.Tensor, training: bool | None) -> Any:
        """The outputs, in the layer's structure, of `time` positions without boundaries."""


@contextlib.contextmanager
def standing_in(stand_ins: Mapping[keras.layers.Layer, Any]) -> Iterator[None]:
    """Within the block, and in its thread only, calls of layers go to their stand-ins.

    Nothing is set on the layers. A graph that is traced in the block keeps the stand-ins: let no
    graph be traced here that is used elsewhere, as those of a model's own `fit` and `predict`.
    """
    token = _stand_ins.set({**_stand_ins.get(), **stand_ins})
    try:
        yield
    finally:
        _stand_ins.reset(token)


def stand_in_of(layer: keras.layers.Layer) -> Any:
    """What stands in for a layer here and now, or None."""
    return _stand_ins.get().get(layer)
