"""The source that runs our own biLM."""

import hashlib
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from keras_elmo.basics.keras_internals import HiddenFromSaver, take_any_inputs
from keras_elmo.bilm.bilm import BiLM
from keras_elmo.bilm.token_cache import TokenVectorCache
from keras_elmo.embedding.sources.awaited import AwaitedWeights, check_sha256, note_alive
from keras_elmo.layers.fast.traced import traced_once


@keras.saving.register_keras_serializable(package="keras_elmo")
class NativeSource(HiddenFromSaver, keras.layers.Layer):
    """Tokens in, all layers of a `BiLM` and the mask out, sentence boundaries included.

    The config holds the biLM's config, the place it came from and the sha256 of its weights, never
    the weights. They get into a `.keras` or `.weights.h5` file when `save_weights` is True. A
    source made by `from_config` takes them from the file that is being loaded, or a living source
    with the same sha256 (so that `clone_model` gives a usable layer), or, at the first call, the
    place. Where none of these has them, that call raises; they are never left random.

    Args:
        bilm: `BiLM` to run.
        place: What `BiLM.load` takes, to find the weights again. None where there is no place.
        save_weights: Whether the biLM's weights are written into saved models. If False, `place`
            is needed and the sha256 is checked when a model is loaded.
        **kwargs: Passed to `keras.layers.Layer`.

    Returns:
        `(layers, mask)` of ragged tokens: float32 `(batch, L+1, time + 2, dim)`, zero at padding,
        and bool `(batch, time + 2)`.
    """

    HIDDEN = ("bilm",)
    has_boundaries = True
    scalars = gamma = None

    def __init__(
        self,
        bilm: BiLM,
        place: str | list[str] | None = None,
        save_weights: bool = True,
        **kwargs: Any,
    ):
        kwargs.setdefault("dtype", bilm.dtype_policy)
        super().__init__(autocast=False, **kwargs)
        take_any_inputs(self)
        self.supports_jit = False
        self.bilm = bilm
        self.place = place
        self.save_weights = save_weights
        self._awaited: AwaitedWeights | None = None
        self._is_shared = place is None
        if place is None and not save_weights:
            raise ValueError(
                "`save_frozen=False` needs a source that can be found again: the name of a preset, "
                "a directory, an archive, or a pair of files. Received: a BiLM object. "
                "Save it with `bilm.save(directory)` and give the directory, or keep "
                "`save_frozen=True`."
            )
        self.build()
        note_alive(bilm)

    @property
    def num_layers(self) -> int:
        """Number of layers, L+1: the token vector and the L LSTM layers."""
        return self.bilm.num_layers

    @property
    def output_dim(self) -> int:
        """Size of each layer's vectors, both directions together."""
        return self.bilm.output_dim

    @property
    def tokenizer(self) -> str | None:
        """Name of the tokenising rule that the biLM was trained with, or None."""
        return self.bilm.tokenizer

    def build(self, input_shape=None):
        """Has nothing to do: the biLM is built when it is made."""

    def call(self, tokens):
        self._find_weights()
        output = self.bilm.embed_tokens(tokens)
        return output.layers, output.mask

    def runner(self, finish: Callable[..., Any], cached_words: int) -> Callable[..., Any]:
        """Function of ragged tokens to what `finish` gives of layers and mask, in its graph.

        It keeps the token vectors of at most `cached_words` words from batch to batch.
        """
        self._find_weights()
        cache = TokenVectorCache(self.bilm, cached_words)
        table = tf.TensorSpec((None, self.bilm.config.projection_dim))
        rows = tf.RaggedTensorSpec((None, None), tf.int32, row_splits_dtype=tf.int64)

        def embed_table(table, rows):
            output = self.bilm.embed_table(table, rows)
            return finish(output.layers, output.mask)

        run = traced_once(embed_table, table, rows)

        def embed(tokens):
            vectors, rows = cache.table(tokens.flat_values)
            rows = tokens.with_flat_values(rows).with_row_splits_dtype(tf.int64)
            return run(tf.constant(vectors), rows)

        return embed

    def fingerprint(self) -> str:
        """sha256 of the biLM's config and weights, in hexadecimal digits."""
        awaited = self._awaited
        if awaited is not None and awaited.are_missing():
            return awaited.sha256
        return self.bilm.fingerprint()

    def get_config(self):
        return {
            **super().get_config(),
            "bilm": keras.saving.serialize_keras_object(self.bilm),
            "place": self.place if isinstance(self.place, (str, type(None))) else list(self.place),
            "save_weights": self.save_weights,
            "fingerprint": self.fingerprint(),
        }

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        expected = config.pop("fingerprint")
        config["bilm"] = keras.saving.deserialize_keras_object(config["bilm"])
        source = cls(**config)
        source._is_shared = False
        awaited = AwaitedWeights(source.bilm, expected, source.place)
        if not source.save_weights:
            awaited.find()
        elif not awaited.copy_from_living():
            source._awaited = awaited
        return source

    def save_own_variables(self, store):
        if not self.save_weights:
            store["sha256"] = _bytes_of(self.fingerprint())
            return
        store["options"] = _bytes_of(_sha256_of_options(self.bilm))
        for index, array in enumerate(self.bilm.arrays().values()):
            store[str(index)] = array

    def load_own_variables(self, store):
        if "sha256" in store.keys():
            if not self._lacks_weights():
                check_sha256(self.place, _hex_of(store["sha256"]), self.bilm.fingerprint())
            return
        if "options" not in store.keys() or _hex_of(store["options"]) != _sha256_of_options(
            self.bilm
        ):
            raise ValueError(
                "The weights file must hold a biLM of this model's options (dimensions, filters, "
                "clips, skip connections, tokenizer). Received: weights of another one. "
                "Load them into a model that was made with the same `source`."
            )
        arrays = {name: store[str(index)] for index, name in enumerate(self.bilm.arrays())}
        self._check_may_change(arrays)
        self.bilm.set_arrays(arrays)

    def _check_may_change(self, arrays):
        """A frozen biLM that others share, or that is not saved, keeps the weights that it has."""
        if not self.bilm.frozen or self._lacks_weights():
            return
        if self.save_weights and not self._is_shared:
            return
        own = self.bilm.arrays()
        if any(not np.array_equal(own[name], array) for name, array in arrays.items()):
            raise ValueError(
                "The weights file must hold the frozen biLM that the model has. Received: another "
                "one (a fine-tuned one, perhaps). Make the model with the `source` of the file's "
                "model; for fine-tuned weights use `fine_tune=True`, or save and load a `.keras` "
                "file."
            )

    def _lacks_weights(self):
        """Whether nobody has set the weights that `from_config` could not know."""
        awaited = self._awaited
        return awaited is not None and awaited.are_missing()

    def _find_weights(self):
        awaited = self._awaited
        if awaited is not None:
            awaited.find()
            self._awaited = None


def _sha256_of_options(bilm):
    return hashlib.sha256(bilm.config.to_json()).hexdigest()


def _bytes_of(hexadecimal):
    return np.frombuffer(bytes.fromhex(hexadecimal), "uint8")


def _hex_of(array):
    return bytes(np.asarray(array)).hex()
