"""The ELMo layer of a Keras model."""

import copy

import keras
import numpy as np
import tensorflow as tf

from keras_elmo.basics.checks import check_choice, check_count, check_flag, check_share
from keras_elmo.embedding import outputs as naming
from keras_elmo.embedding.mixes import make_mixes
from keras_elmo.embedding.sources.make_source import make_source
from keras_elmo.layers.sequences import drop_boundaries, masked_mean
from keras_elmo.text import inputs as reading
from keras_elmo.text.rules import TOKENIZERS


@keras.saving.register_keras_serializable(package="keras_elmo")
class ELMoEmbedding(keras.layers.Layer):
    """Embeds sentences by a frozen biLM: `gamma * sum_j softmax(s)_j * h_j` for each token.

    Peters et al. (2018), section 3.2, equation 1. `h_0` is the token vector written twice, `h_1` to
    `h_L` are the biLM's LSTM layers, forward and backward concatenated. Only the L+1 scalars `s`
    and `gamma` are trained, L+2 numbers a mix. `trainable = False` freezes them; the biLM is never
    trained unless `fine_tune` is True, whatever is flipped. Where neither `default` nor `elmo` is
    put out there is no mix, and nothing to train.

    A sentence's result depends on nothing but the sentence. All outputs are float32, also under a
    mixed dtype policy, which only lets the biLM's products run in half precision. Positions beyond
    a row's length are exactly 0, and so is every position and every pooled vector of a blank text.

    Outputs, for batch b, time t, dimension D, projection P = D/2, L LSTM layers:

    | `output`          | shape             | what                                               |
    |-------------------|-------------------|----------------------------------------------------|
    | `"default"`       | (b, D)            | mean of `elmo` over the words (not the boundaries) |
    | `"elmo"`          | (b, t, D)         | the mix                                            |
    | `"word_emb"`      | (b, t, P)         | the token vector                                   |
    | `"lstm_outputsK"` | (b, t, D)         | LSTM layer K, 1 to L                               |
    | `"top"`           | (b, t, D)         | the last layer                                     |
    | `"average"`       | (b, t, D)         | plain mean over all layers                         |
    | `"concat"`        | (b, t, (L+1) * D) | all layers side by side                            |
    | `"layers"`        | (b, L+1, t, D)    | all layers                                         |

    t is the longest row's length, at least 1; of padded tokens the width of the padding. Outputs of
    shape (b, t, ...) carry the Keras mask (b, t), True at words; `default` and `layers` carry none.

    Args:
        source: Name of a preset, directory, archive, pair (options, weights) or `BiLM`; or handle,
            directory or archive of a TF-Hub module.
        output: Name from the table; a list of names gives a dict of outputs.
        tokenizer: Rule that splits raw texts, "space" or "words". None takes the one that the
            source was trained with, and "space" where it names none. The attribute and the config
            hold the rule that was taken.
        inputs: "text", "tokens", or "auto": rank 1 and shape (batch, 1) are raw texts; ragged
            tensors, lists of lists, dicts and other rank 2 are tokens. After a symbolic input of
            tokens, as `keras.Input((None,), dtype="string")`, every rank 2 is tokens. Where one
            layer is given both kinds of rank 2, it raises.
        num_mixes: Number of mixes over one run of the biLM. From 2 on, `default` and `elmo` are
            lists of as many tensors.
        initial_scalars: L+1 numbers that `s` starts from; None means those of the TF-Hub module,
            all zero for other sources.
        initial_gamma: Number that `gamma` starts from; None means that of the TF-Hub module, 1 for
            other sources.
        fixed_weights: L+1 layer weights that sum to 1, not trained.
        fixed_scalars: L+1 numbers before softmax, not trained.
        layer_norm: Whether to normalise each layer over the sentence's positions before the mix.
        l2: Strength of the L2 penalty on `s`.
        dropout: Share of the mix's values set to 0 in training.
        keep_boundaries: Whether outputs of shape (b, t, ...) have the vectors of begin and end of
            sentence too: t + 2 positions, which the mask counts. A blank text then has these two.
        max_tokens: Number of tokens that are kept of a sentence, boundaries not counted; None keeps
            all. Cutting warns, once for a layer; a compiled call writes a line to stderr instead.
        fine_tune: Whether to train the biLM too.
        save_frozen: Whether saved models contain the frozen biLM. If False, they hold where it came
            from and its sha256, which is checked when the model is loaded.
        native: Whether a TF-Hub module is converted to a `BiLM` of its weights, which is several
            times faster, can be fine-tuned and is saved with the model.
        **kwargs: Passed to `keras.layers.Layer`.

    Call arguments:
        inputs: Raw texts `(batch,)` or `(batch, 1)`; or tokens: RaggedTensor or list of lists
            `(batch, None)`, or `(batch, time)` with `""` as padding, or a dict of "tokens"
            `(batch, time)` and "sequence_len" int `(batch,)`. Strings, as tensors or in containers.
        training: Whether dropout is applied.

    Returns:
        float32 tensor, list of tensors or dict, as `output` and `num_mixes` tell.

    Raises:
        ValueError: If an argument is out of range, or inputs have the wrong shape.
        TypeError: If inputs are not strings, or `source` is none of the above.
        FileNotFoundError: If nothing is at `source`.

    Example:

    >>> layer = ELMoEmbedding(output="elmo")
    >>> layer(["free entry now", ""]).shape
    TensorShape([2, 3, 512])

    Source: the `default` and `tokens` signatures of TF-Hub's `elmo` module; `Elmo` of AllenNLP.
    """

    def __init__(
        self,
        source="english-small",
        output="default",
        tokenizer=None,
        inputs="auto",
        num_mixes=1,
        initial_scalars=None,
        initial_gamma=None,
        fixed_weights=None,
        fixed_scalars=None,
        layer_norm=False,
        l2=0.0,
        dropout=0.0,
        keep_boundaries=False,
        max_tokens=None,
        fine_tune=False,
        save_frozen=True,
        native=False,
        **kwargs,
    ):
        kwargs["name"] = kwargs.get("name") or _unique_name()
        super().__init__(**kwargs)
        self._convert_input_args = False
        self._allow_non_tensor_positional_args = True
        self.supports_jit = False
        self.supports_masking = True
        # Keras owns the attribute `output`.
        self.output_names = tuple(output) if isinstance(output, (list, tuple)) else output
        self.inputs = inputs
        self.num_mixes = check_count("num_mixes", num_mixes)
        self.dropout = check_share("dropout", dropout)
        self.keep_boundaries = check_flag("keep_boundaries", keep_boundaries)
        self.max_tokens = None if max_tokens is None else check_count("max_tokens", max_tokens)
        self.fine_tune = check_flag("fine_tune", fine_tune)
        self.save_frozen = check_flag("save_frozen", save_frozen)
        self.native = check_flag("native", native)
        self._rank_two = reading.RankTwo()
        self._has_warned = False
        self.feature_cache = None
        check_choice("tokenizer", tokenizer, (None, *TOKENIZERS))
        check_choice("inputs", self.inputs, reading.INPUTS)
        self.source = make_source(
            source, self.fine_tune, self.save_frozen, self.dtype_policy, self.native
        )
        self._check_boundaries()
        naming.check_output(self.output_names, self.num_layers)
        self.tokenizer = tokenizer or self.source.tokenizer or "space"
        mixes = make_mixes(
            self.source,
            self.num_mixes,
            initial_scalars=initial_scalars,
            initial_gamma=initial_gamma,
            fixed_weights=fixed_weights,
            fixed_scalars=fixed_scalars,
            layer_norm=layer_norm,
            l2=l2,
            trainable=self.trainable,
        )
        self._mix_config = mixes[0].get_config()
        is_mixed = any(name in naming.MIXED for name in self.names())
        self.mixes = mixes if is_mixed else []
        self.drop = keras.layers.Dropout(dropout, dtype="float32", name="dropout")
        if not self.trainable:
            self.source.trainable = False
        self.build()

    @property
    def compute_dtype(self):
        """The string dtype, so that Keras makes a string Input where a model has none."""
        return "string"

    @property
    def variable_dtype(self):
        """The string dtype, as `compute_dtype`; all weights are float32."""
        return "string"

    @property
    def num_layers(self):
        """Number of layers that are mixed, L+1."""
        return self.source.num_layers

    @property
    def output_dim(self):
        """D, the size of a mixed vector."""
        return self.source.output_dim

    @property
    def layer_weights(self):
        """NumPy float32 `(L+1,)`, of several mixes `(num_mixes, L+1)`: softmax(s), with sum 1."""
        weights = [mix.layer_weights for mix in self._existing_mixes()]
        return weights[0] if self.num_mixes == 1 else np.stack(weights)

    @property
    def gamma(self):
        """The scale as a float, of several mixes as NumPy float32 `(num_mixes,)`."""
        gammas = np.array([mix.gamma.numpy() for mix in self._existing_mixes()])
        return float(gammas[0]) if self.num_mixes == 1 else gammas

    def build(self, input_shape=None):
        """Does nothing: shapes come from the source, so the weights are there already."""

    def call(self, inputs, training=None):
        batch = self.read(inputs)
        if self.feature_cache is not None:
            return self.feature_cache.outputs(batch.tokens, batch.time, training)
        layers, mask = self.take_off_boundaries(*self.source(batch.tokens))
        return self.outputs_of(layers, mask, batch.time, training)

    def read(self, inputs):
        """The tokens of inputs, cut to `max_tokens`, and their time axis: a `TokenBatch`."""
        batch = self._read(inputs)
        if self.max_tokens is not None:
            self._has_warned |= reading.tell_cut(batch.tokens, self.max_tokens, self._has_warned)
        return reading.cut(batch, self.max_tokens)

    def take_off_boundaries(self, layers, mask):
        """Layers and mask as the source gives them, without boundaries unless they are kept."""
        layers = layers if self.fine_tune else tf.stop_gradient(layers)
        if self.keep_boundaries or not self.source.has_boundaries:
            return layers, mask
        return drop_boundaries(layers, mask)

    def outputs_of(self, layers, mask, time=None, training=None):
        """The outputs, of layers without boundaries; padded to `time` positions if it is given."""
        if time is not None:
            layers, mask = naming.pad_time(layers, mask, time + (2 if self.keep_boundaries else 0))
        mixed = [self.drop(mix(layers, mask=mask), training=training) for mix in self.mixes]

        def make(name, index):
            if name == "default":
                return self.pool(mixed[index], mask)
            output = mixed[index] if name == "elmo" else naming.unmixed_output(name, layers)
            return naming.with_mask(output, mask) if naming.has_mask(name) else output

        return self.collect(make)

    def compute_mask(self, inputs, previous_mask=None):
        """The masks of the outputs, in their structure: bool `(batch, time)` or None.

        `call` sets the same masks. In a symbolic call there is none yet: it comes with the tensors.
        """
        is_symbolic = isinstance(_tokens_of(inputs), keras.KerasTensor)
        if is_symbolic or not any(naming.has_mask(name) for name in self.names()):
            return None
        mask = self._mask(inputs)
        return self.collect(lambda name, _: mask if naming.has_mask(name) else None)

    def compute_output_spec(self, inputs, training=None):
        return self._output_spec(inputs, self._rank_two)

    def compute_output_shape(self, input_shape):
        inputs = keras.KerasTensor(input_shape, "string")
        spec = self._output_spec(inputs, copy.copy(self._rank_two))
        return keras.tree.map_structure(lambda output: output.shape, spec)

    def _output_spec(self, inputs, rank_two):
        batch, time = self._symbolic_shape(inputs, rank_two)

        def make(name, _):
            shape = naming.output_shape(name, batch, time, self.num_layers, self.output_dim)
            return keras.KerasTensor(shape, "float32")

        return self.collect(make)

    def get_config(self):
        names = self.output_names
        return {
            **self._mix_config,
            **super().get_config(),
            "source": keras.saving.serialize_keras_object(self.source),
            "output": names if isinstance(names, str) else list(names),
            "tokenizer": self.tokenizer,
            "inputs": self.inputs,
            "num_mixes": self.num_mixes,
            "dropout": self.dropout,
            "keep_boundaries": self.keep_boundaries,
            "max_tokens": self.max_tokens,
            "fine_tune": self.fine_tune,
            "save_frozen": self.save_frozen,
            "native": self.native,
        }

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        if isinstance(config.get("source"), dict):
            config["source"] = keras.saving.deserialize_keras_object(config["source"])
        return cls(**config)

    def _existing_mixes(self):
        if not self.mixes:
            raise ValueError(
                "The layer must have a mix to have weights of it. Received: "
                f"output={self.output_names!r}. Put out 'default' or 'elmo' too."
            )
        return self.mixes

    def names(self):
        """The outputs' names, a tuple."""
        return self.output_names if isinstance(self.output_names, tuple) else (self.output_names,)

    def collect(self, make):
        """`make(name, index of the mix)` for every output, as a tensor, list or dict."""

        def of(name):
            if name in naming.MIXED and self.num_mixes > 1:
                return [make(name, index) for index in range(self.num_mixes)]
            return make(name, 0)

        if isinstance(self.output_names, tuple):
            return {name: of(name) for name in self.output_names}
        return of(self.output_names)

    def _read(self, inputs):
        hold_tokens = reading.are_tokens(inputs, self.inputs, self._rank_two)
        return reading.read_tokens(inputs, self.tokenizer, hold_tokens)

    def pool(self, mixed, mask):
        """The mean of mixed vectors over the words."""
        if self.keep_boundaries:
            mixed, mask = mixed[:, 1:-1], mask[:, 2:]
        return masked_mean(mixed, mask)

    def _mask(self, inputs):
        batch = reading.cut(self._read(inputs), self.max_tokens)
        boundaries = 2 if self.keep_boundaries else 0
        return tf.sequence_mask(batch.tokens.row_lengths() + boundaries, batch.time + boundaries)

    def _symbolic_shape(self, inputs, rank_two):
        """`(batch, time)` of the outputs as far as they are known in advance."""
        hold_tokens = reading.are_tokens(inputs, self.inputs, rank_two)
        time = reading.static_time(inputs, hold_tokens)
        if time is not None:
            time = min(time, self.max_tokens or time) + (2 if self.keep_boundaries else 0)
        return _tokens_of(inputs).shape[0], time

    def _check_boundaries(self):
        if self.keep_boundaries and not self.source.has_boundaries:
            raise ValueError(
                "`keep_boundaries=True` must have a source that gives the vectors of begin and end "
                "of sentence. Received: a TF-Hub module, which does not. Convert it with "
                "`native=True`."
            )


def _unique_name():
    """`elmo_embedding`, `elmo_embedding_1`...: Keras' own rule would say `el_mo_embedding`."""
    number = keras.backend.get_uid("elmo_embedding") - 1
    return f"elmo_embedding_{number}" if number else "elmo_embedding"


def _tokens_of(inputs):
    return inputs["tokens"] if isinstance(inputs, dict) else inputs
