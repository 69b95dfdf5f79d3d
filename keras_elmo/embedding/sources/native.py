"""The source that runs our own biLM."""

import concurrent.futures
import hashlib
import weakref

import keras
import numpy as np
import tensorflow as tf

from keras_elmo.bilm.bilm import BiLM
from keras_elmo.bilm.token_cache import TokenVectorCache
from keras_elmo.layers.fast.traced import traced_once

# Sources that are alive in this process: `clone_model` finds the weights of the original here.
_alive = weakref.WeakSet()


@keras.saving.register_keras_serializable(package="keras_elmo")
class NativeSource(keras.layers.Layer):
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

    Call arguments:
        tokens: RaggedTensor string `(batch, None)`, without sentence boundaries.

    Returns:
        `(layers, mask)`: float32 `(batch, L+1, time + 2, dim)`, zero at padding, and bool
        `(batch, time + 2)`.

    Raises:
        ValueError: If `save_weights` is False and there is no `place`.
    """

    has_boundaries = True
    scalars = gamma = None

    def __init__(self, bilm, place=None, save_weights=True, **kwargs):
        kwargs.setdefault("dtype", bilm.dtype_policy)
        super().__init__(autocast=False, **kwargs)
        self._convert_input_args = False
        self.supports_jit = False
        self.bilm = bilm
        self.place = place
        self.save_weights = save_weights
        self._expected = None
        self._is_shared = place is None
        if place is None and not save_weights:
            raise ValueError(
                "`save_frozen=False` needs a source that can be found again: the name of a preset, "
                "a directory, an archive, or a pair of files. Received: a BiLM object. "
                "Save it with `bilm.save(directory)` and give the directory, or keep "
                "`save_frozen=True`."
            )
        self.build()
        _alive.add(self)

    @property
    def num_layers(self):
        """Number of layers, L+1: the token vector and the L LSTM layers."""
        return self.bilm.num_layers

    @property
    def output_dim(self):
        """Size of each layer's vectors, both directions together."""
        return self.bilm.output_dim

    @property
    def tokenizer(self):
        """Name of the tokenising rule that the biLM was trained with, or None."""
        return self.bilm.tokenizer

    def build(self, input_shape=None):
        """Has nothing to do: the biLM is built when it is made."""

    def call(self, tokens):
        self._find_weights()
        output = self.bilm.embed_tokens(tokens)
        return output.layers, output.mask

    def runner(self, finish, cached_words):
        """A function that embeds batch after batch.

        Args:
            finish: function of layers and mask, as `call` returns them, to tensors; in graph.
            cached_words: int, token vectors to keep between batches at most.

        Returns:
            Function of a RaggedTensor of tokens to what `finish` gives.
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

    def fingerprint(self):
        """sha256 of the biLM's config and weights, in hexadecimal digits."""
        return self._expected if self._lacks_weights() else self.bilm.fingerprint()

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
        if not source.save_weights:
            source._load_from_place(expected)
        elif not source._copy_from_living(expected):
            source._expected = expected
            source.bilm.set_arrays(_not_a_number(source.bilm.arrays()))
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
            self._check_sha256(_hex_of(store["sha256"]))
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

    def __dir__(self):
        # Keras saves what dir() lists; the biLM's weights are this class's own to save, or not.
        return [name for name in super().__dir__() if name != "bilm"]

    def _copy_from_living(self, expected):
        options = self.bilm.config
        for other in list(_alive):
            same_shape = other is not self and other.bilm.config == options
            if same_shape and other.fingerprint() == expected and not other._lacks_weights():
                self.bilm.set_arrays(other.bilm.arrays())
                return True
        return False

    def _load_from_place(self, expected):
        found = _load(self.place, expected)
        _compare(self.place, expected, found.fingerprint())
        self.bilm.set_arrays(found.arrays())

    def _lacks_weights(self):
        """Whether nobody has set the weights since `from_config` marked them as missing."""
        return self._expected is not None and _any_nan(self.bilm)

    def _find_weights(self):
        """Gets weights that `from_config` could not know, however this call is being traced."""
        if self._expected is None:
            return
        # A new thread is in no graph and in no scope of Keras that would catch the values.
        with concurrent.futures.ThreadPoolExecutor(1) as executor:
            executor.submit(self._fill).result()
        self._expected = None

    def _fill(self):
        if not self._lacks_weights():
            return
        if self.place is None:
            raise ValueError(
                "The biLM's weights must be known before the layer is called. Received: a layer "
                f"made from a config only, whose biLM (sha256 {self._expected}) came from no "
                "file. Load the weights with `model.load_weights`, or give the BiLM as `source`."
            )
        self._load_from_place(self._expected)

    def _check_sha256(self, expected):
        if not self._lacks_weights():
            _compare(self.place, expected, self.bilm.fingerprint())


def _load(place, expected):
    try:
        return BiLM.load(place)
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"The biLM (sha256 {expected}) must be found at {place!r}, where the saved config says "
            f"that it came from. Received: {error} Put the files back, or build the model anew "
            "with `source` set to where they are now and call `model.load_weights`."
        ) from error


def _compare(place, expected, received):
    if received != expected:
        raise ValueError(
            f"The frozen biLM at {place!r} must have sha256 {expected}, as in the saved model. "
            f"Received: sha256 {received}. Put the original files back: with another biLM the "
            "trained layers above it give wrong results."
        )


def _sha256_of_options(bilm):
    return hashlib.sha256(bilm.config.to_json()).hexdigest()


def _bytes_of(hexadecimal):
    return np.frombuffer(bytes.fromhex(hexadecimal), "uint8")


def _hex_of(array):
    return bytes(np.asarray(array)).hex()


def _not_a_number(arrays):
    return {name: np.full_like(array, np.nan) for name, array in arrays.items()}


def _any_nan(bilm):
    return np.isnan(bilm.weights[0].numpy()).any()
