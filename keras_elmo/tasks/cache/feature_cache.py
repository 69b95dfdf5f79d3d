"""Training on a frozen biLM's features, which are computed once."""

import contextlib
import contextvars
import os
from collections.abc import Iterator
from typing import Any

import keras
import tensorflow as tf

from keras_elmo.basics.checks import check_choice, check_count
from keras_elmo.embedding.elmo_embedding import ELMoEmbedding
from keras_elmo.embedding.find import elmo_layers
from keras_elmo.embedding.stand_ins import standing_in
from keras_elmo.tasks.cache.layer_cache import LayerCache
from keras_elmo.tasks.cache.loop import Loop

DTYPES = ("float16", "float32")

_in_use: contextvars.ContextVar[tuple] = contextvars.ContextVar("in_use", default=())


class FeatureCache:
    """Trains a model on its frozen biLM's layers, which run once for each text.

    `fit`, `evaluate` and `predict` are those of the model, but its `ELMoEmbedding` layers take the
    biLM's layers of a text from here; texts that are new are run and kept. The weights of the mix,
    gamma and all layers above train as ever. Nothing is set on the model: its own methods take raw
    text as before, at the same time and in other threads too.

    Where a layer's only output is `default`, and nothing is dropped or normalised before its
    mean, the L+1 means of a text are kept; else the L+1 vectors of each token.

    Args:
        model: Keras model with ELMoEmbedding layers, or an ELMoEmbedding. None of them
            fine-tunes.
        directory: where to keep the features for other processes and later runs, mapped into
            memory; None keeps them in memory. Features of another biLM, tokenising or dtype lie
            beside each other there and are never mixed up.
        dtype: "float32" or "float16", of what is kept. Half precision takes half the room, but
            training magnifies its rounding: the model is another one than without a cache, as
            another seed's would be.
        most_bytes: bytes to keep at most. Texts beyond are run each time.

    Raises:
        ValueError: there is no ELMoEmbedding, or one fine-tunes its biLM.

    Example:

    ```python
    texts, labels = ["free entry, text WIN", "see you at 8"], [1, 0]
    model = keras_elmo.Sequential(
        [keras_elmo.ELMoEmbedding(), keras.layers.Dense(1, activation="sigmoid")]
    )
    model.compile("adam", "binary_crossentropy")
    FeatureCache(model).fit(texts, labels, epochs=20)
    model.predict(texts)
    ```
    """

    def __init__(
        self,
        model: keras.Model | ELMoEmbedding,
        directory: str | os.PathLike | None = None,
        dtype: str = "float32",
        most_bytes: int = 2 << 30,
    ):
        check_choice("dtype", dtype, DTYPES)
        check_count("most_bytes", most_bytes)
        self.model = model
        options = (directory, dtype, most_bytes, getattr(model, "needs_means_only", False))
        self._caches = {layer: LayerCache(layer, *options) for layer in _embeddings_of(model)}
        self._loop: Loop | None = None
        self._compiled: list = []

    def add(self, texts: Any, verbose: int = 0) -> None:
        """Runs texts now, from the longest to the shortest, which is faster than in batches of fit.

        Args:
            texts: raw texts or tokens in any container that the layers take.
            verbose: 0 for silence, 1 for Keras' progress bar.
        """
        for cache in self._caches.values():
            cache.add(texts, verbose)

    def add_tokens(self, tokens: tf.RaggedTensor, verbose: int = 0) -> None:
        """As `add`, for tokens that have been read, string `(n, None)`."""
        for cache in self._caches.values():
            cache.add_tokens(tokens, verbose)

    def fit(self, *args: Any, **kwargs: Any) -> keras.callbacks.History:
        """The model's `fit`, with its arguments, on features."""
        return self._run("fit", *args, **kwargs)

    def evaluate(self, *args: Any, **kwargs: Any) -> Any:
        """The model's `evaluate`, with its arguments, on features."""
        return self._run("evaluate", *args, **kwargs)

    def predict(self, *args: Any, **kwargs: Any) -> Any:
        """The model's `predict`, with its arguments, on features."""
        return self._run("predict", *args, **kwargs)

    @contextlib.contextmanager
    def in_use(self) -> Iterator["FeatureCache"]:
        """Within the block, and in its thread only, calls of the layers take features from here.

        So do all methods of a `TextClassifier`, `Tagger` or `keras_elmo.Sequential`. Let no graph
        be traced here that is used elsewhere, as of the methods of other models.
        """
        token = _in_use.set((*_in_use.get(), self))
        try:
            with self._standing_in():
                yield self
        finally:
            _in_use.reset(token)
            for cache in self._caches.values():
                cache.store.flush()

    def loop(self) -> Loop:
        """Keras' own methods of the model on features; anew where the model was compiled anew."""
        model = self.model
        compiled = [model.optimizer, *model.metrics[:1]] if model.compiled else []
        if self._loop is None or list(map(id, compiled)) != list(map(id, self._compiled)):
            self._loop, self._compiled = Loop(self.model, self._standing_in), compiled
        return self._loop

    def _standing_in(self):
        return standing_in(self._caches)

    def _run(self, name, *args, **kwargs):
        if not isinstance(self.model, keras.Model):
            raise TypeError(
                f"The FeatureCache must be of a Keras model to `{name}`. Received: one of a layer, "
                f"'{self.model.name}'. Give it the model that the layer stands in."
            )
        with self.in_use():
            model = self.model if isinstance(self.model, UsesFeatureCache) else self.loop()
            return getattr(model, name)(*args, **kwargs)


class UsesFeatureCache:
    """A Keras model whose `fit`, `evaluate` and `predict` go by the `FeatureCache` in use."""

    def keras_methods(self) -> Any:
        """What has Keras' own `fit`, `evaluate` and `predict` of this model."""
        cache = cache_in_use(self)
        return super() if cache is None else cache.loop()


def cache_in_use(model):
    """The FeatureCache of a model that is in use in this thread, or None."""
    return next((cache for cache in reversed(_in_use.get()) if cache.model is model), None)


@contextlib.contextmanager
def cache_for_fit(model, embedding, wanted):
    """The context of a `fit`: gives a FeatureCache in use or, where there can be none, None.

    Args:
        model: Keras model that is trained.
        embedding: its ELMoEmbedding.
        wanted: True for features in memory, a path for features in a directory, False for none.
    """
    cache = cache_in_use(model)
    if cache is not None or not wanted or embedding.fine_tune:
        yield cache
        return
    with FeatureCache(model, directory=None if wanted is True else wanted).in_use() as cache:
        yield cache


def _embeddings_of(model):
    found = elmo_layers(model)
    if not found:
        raise ValueError(
            "`model` must be an ELMoEmbedding or a Keras model with one among its layers. "
            f"Received: {model!r:.80}."
        )
    for layer in found:
        if layer.fine_tune:
            raise ValueError(
                f"A FeatureCache must have a frozen biLM. Received: the layer '{layer.name}' with "
                "`fine_tune=True`, whose features change with each step. Train without a cache."
            )
    return found
