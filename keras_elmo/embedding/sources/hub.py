"""The source that runs a TF-Hub module."""

import os

import keras
import tensorflow as tf

from keras_elmo.basics.keras_internals import take_any_inputs
from keras_elmo.embedding.sources.hub_conversion import convert
from keras_elmo.embedding.sources.hub_module import HubModule, sha256_of
from keras_elmo.layers.fast.traced import traced_once
from keras_elmo.presets.hub_modules import module_directory


@keras.saving.register_keras_serializable(package="keras_elmo")
class HubSource(keras.layers.Layer):
    """Tokens in, all layers of a TF-Hub ELMo module and the mask out.

    Layer 0 is `word_emb` written twice, layer K is `lstm_outputsK`; the mix of the module itself
    is not used. The module's variables are frozen and belong to no layer. It does not give the
    vectors of the sentence boundaries.

    The config holds the handle and the module's sha256. A source made by `from_config` finds the
    module by its handle again; saved models never hold its weights.

    Args:
        place: Handle (`https://tfhub.dev/google/elmo/3`, `google/elmo/TensorFlow1/elmo/3`),
            directory or `.tar.gz` archive of a module.
        **kwargs: Passed to `keras.layers.Layer`.

    Returns:
        `(layers, mask)` of ragged tokens: float32 `(batch, L+1, time, dim)`, zero at padding, and
        bool `(batch, time)`.

    Source: the `tokens` signature of TF-Hub's `elmo` module.
    """

    has_boundaries = False

    def __init__(self, place, **kwargs):
        kwargs["dtype"] = "float32"
        super().__init__(autocast=False, trainable=False, **kwargs)
        take_any_inputs(self)
        self.supports_jit = False
        self.place = os.fspath(place)
        self.module = _Hidden(HubModule(module_directory(self.place)))
        self.build()

    @property
    def num_layers(self):
        """Number of layers, L+1: the token vector and the L LSTM layers."""
        return self.module.value.num_layers

    @property
    def output_dim(self):
        """Size of each layer's vectors, both directions together."""
        return self.module.value.output_dim

    @property
    def tokenizer(self):
        """Name of the tokenising rule of the module's own signature for texts."""
        return self.module.value.tokenizer

    @property
    def scalars(self):
        """The L+1 numbers before softmax that the module itself mixes with, or None."""
        return self.module.value.scalars

    @property
    def gamma(self):
        """The scale that the module itself mixes with, or None."""
        return self.module.value.gamma

    def build(self, input_shape=None):
        """Has nothing to do: the module brings its variables."""

    def call(self, tokens):
        return self.module.value(tokens)

    def runner(self, finish, cached_words):
        """Function of ragged tokens to what `finish` gives of layers and mask, in its graph.

        `cached_words` is not used: a module does not give vectors of words alone.
        """
        spec = tf.RaggedTensorSpec((None, None), tf.string, row_splits_dtype=tf.int64)
        run = traced_once(lambda tokens: finish(*self.module.value(tokens)), spec)
        return lambda tokens: run(tokens.with_row_splits_dtype(tf.int64))

    def to_bilm(self):
        """The module's biLM as a `BiLM` of ours, proved by comparing vectors.

        Raises:
            ValueError: If the module's variables are not those of a biLM, or the vectors differ.
        """
        return convert(self.module.value).bilm

    def fingerprint(self):
        """sha256 of the module's graph and variables, in hexadecimal digits."""
        return self.module.value.sha256

    def get_config(self):
        config = {**super().get_config(), "place": self.place, "fingerprint": self.fingerprint()}
        for name in ("dtype", "trainable"):
            del config[name]
        return config

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        expected, place = config.pop("fingerprint"), config["place"]
        try:
            found = sha256_of(module_directory(place))
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"The TF-Hub module (sha256 {expected}) must be found at {place!r}, where the "
                f"saved config says that it came from. Received: {error} Put it back; or build the "
                "model anew with `source` set to where it is now, and call `model.load_weights`. "
                "A model whose module is converted before it is saved (`native=True`) holds its "
                "weights."
            ) from error
        if found != expected:
            raise ValueError(
                f"The TF-Hub module at {place!r} must have sha256 {expected}, as in the saved "
                f"model. Received: sha256 {found}. Put the original one back: with another the "
                "trained layers above it give wrong results."
            )
        return cls(**config)


class _Hidden:
    """Keeps a module from Keras, which would look for weights of the layer in it."""

    def __init__(self, value):
        self.value = value
