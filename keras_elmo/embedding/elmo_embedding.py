"""The ELMo layer of a Keras model."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from keras_elmo.basics.checks import check_choice, check_count, check_flag, check_share
from keras_elmo.basics.keras_internals import StringLayer, set_mask
from keras_elmo.bilm.bilm import BiLM
from keras_elmo.embedding import outputs as naming
from keras_elmo.embedding.sources.make_source import make_source
from keras_elmo.embedding.stand_ins import stand_in_of
from keras_elmo.layers.scalar_mix import ScalarMix, copies_of
from keras_elmo.layers.sequences import drop_boundaries, masked_mean
from keras_elmo.text import inputs as reading
from keras_elmo.text.rules import TOKENIZERS

# The arguments that a config holds as they are.
PLAIN_ARGUMENTS: tuple[str, ...] = ("tokenizer", "inputs", "num_mixes", "dropout", "max_tokens")
PLAIN_ARGUMENTS += ("keep_boundaries", "fine_tune", "save_frozen", "native")


@keras.saving.register_keras_serializable(package="keras_elmo")
class ELMoEmbedding(StringLayer):
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
            directory or archive of a TF-Hub module. The attribute is the layer that runs it.
        output: Name from the table; a list of names gives a dict of outputs. The attribute is
            `output_names`, a tuple for a list, because a Keras layer's `output` is a tensor.
        tokenizer: Rule that splits raw texts, "space" or "words". None takes the one that the
            source was trained with, and "space" where it names none. The attribute and the config
            hold the rule that was taken.
        inputs: "text", "tokens", or "auto": rank 1 and shape (batch, 1) are raw texts; ragged
            tensors, lists of lists, dicts and other rank 2 are tokens. What a symbolic input is,
            as `keras.Input((None,), dtype="string")`, the model keeps: also its batches of shape
            (batch, 1) are tokens then. In a subclassed model, which has none, say "tokens".
        mix: `ScalarMix` that says what the mix starts from, what of it is fixed, and how layers
            are normalised; None means `ScalarMix()`. The layer makes its own of it, with the
            weights of one that is built, so that two layers never share one. Where it tells
            neither scalars nor weights, or no gamma, those of a TF-Hub module are the start.
            The attribute is the layer's own mix, of several the first of `mixes`.
        num_mixes: Number of mixes over one run of the biLM, all made of `mix`. From 2 on, `default`
            and `elmo` are lists of as many tensors.
        dropout: Share of the mix's values set to 0 in training.
        keep_boundaries: Whether outputs of shape (b, t, ...) have the vectors of begin and end of
            sentence too: t + 2 positions, which the mask counts. A blank text then has these two.
        max_tokens: Number of tokens that are kept of a sentence, boundaries not counted; None keeps
            all. Cutting warns; a compiled call writes a line to stderr instead.
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
        are_tokens: What dense inputs of rank 2 hold under `inputs="auto"`; None means that the
            rule above tells. Models keep it for their symbolic inputs.

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
        source: str | os.PathLike | Sequence[str] | BiLM | keras.layers.Layer = "english-small",
        output: str | Sequence[str] = "default",
        tokenizer: str | None = None,
        inputs: str = "auto",
        mix: ScalarMix | None = None,
        num_mixes: int = 1,
        dropout: float = 0.0,
        keep_boundaries: bool = False,
        max_tokens: int | None = None,
        fine_tune: bool = False,
        save_frozen: bool = True,
        native: bool = False,
        **kwargs: Any,
    ):
        kwargs["name"] = kwargs.get("name") or _unique_name()
        super().__init__(**kwargs)
        self.supports_masking = True
        self.output_names = tuple(output) if isinstance(output, (list, tuple)) else output
        self.inputs = inputs
        self.num_mixes = check_count("num_mixes", num_mixes)
        self.dropout = check_share("dropout", dropout)
        self.keep_boundaries = check_flag("keep_boundaries", keep_boundaries)
        self.max_tokens = None if max_tokens is None else check_count("max_tokens", max_tokens)
        self.fine_tune = check_flag("fine_tune", fine_tune)
        self.save_frozen = check_flag("save_frozen", save_frozen)
        self.native = check_flag("native", native)
        check_choice("tokenizer", tokenizer, (None, *TOKENIZERS))
        check_choice("inputs", self.inputs, reading.INPUTS)
        self.source = make_source(
            source, self.fine_tune, self.save_frozen, self.dtype_policy, self.native
        )
        self._check_boundaries()
        naming.check_output(self.output_names, self.num_layers)
        self.tokenizer = tokenizer or self.source.tokenizer or "space"
        mixes = copies_of(
            ScalarMix() if mix is None else mix, self.num_mixes, self.source, self.trainable
        )
        self._mix_config = mixes[0].get_config()
        is_mixed = any(name in naming.MIXED for name in self.names())
        self.mixes = mixes if is_mixed else []
        self.drop = keras.layers.Dropout(dropout, dtype="float32", name="dropout")
        if not self.trainable:
            self.source.trainable = False
        self.build()

    @property
    def mix(self) -> ScalarMix:
        """The mix, of several the first; where nothing is mixed, one that is not built."""
        return self.mixes[0] if self.mixes else ScalarMix.from_config(self._mix_config)

    @property
    def num_layers(self) -> int:
        """Number of layers that are mixed, L+1."""
        return self.source.num_layers

    @property
    def output_dim(self) -> int:
        """D, the size of a mixed vector."""
        return self.source.output_dim

    @property
    def layer_weights(self) -> np.ndarray:
        """NumPy float32 `(L+1,)`, of several mixes `(num_mixes, L+1)`: softmax(s), with sum 1."""
        weights = [mix.layer_weights for mix in self._existing_mixes()]
        return weights[0] if self.num_mixes == 1 else np.stack(weights)

    @property
    def gamma(self) -> float | np.ndarray:
        """The scale as a float, of several mixes as NumPy float32 `(num_mixes,)`."""
        gammas = np.array([mix.gamma.numpy() for mix in self._existing_mixes()])
        return float(gammas[0]) if self.num_mixes == 1 else gammas

    def build(self, input_shape=None):
        """Does nothing: shapes come from the source, so the weights are there already."""

    def __call__(self, *args, **kwargs):
        """As of every Keras layer; what a symbolic input holds is told to each call of its node."""
        inputs = args[0] if args else kwargs.get("inputs")
        if self.inputs == "auto" and _is_dense_symbol_of_rank_two(inputs):
            kwargs.setdefault("are_tokens", inputs.shape[1] != 1)
        return super().__call__(*args, **kwargs)

    def call(self, inputs, training=None, are_tokens=None):
        return self.embed(self.read(inputs, are_tokens), training)

    def embed(self, batch: reading.TokenBatch, training: bool | None = None) -> Any:
        """The outputs for tokens that have been read, or what stands in for the layer puts out."""
        stand_in = stand_in_of(self)
        if stand_in is not None:
            return stand_in.outputs(batch.tokens, batch.time, training)
        layers, mask = self.take_off_boundaries(*self.source(batch.tokens))
        return self.outputs_of(layers, mask, batch.time, training)

    def read(self, inputs: Any, are_tokens: bool | None = None) -> reading.TokenBatch:
        """The tokens of inputs, cut to `max_tokens`, and their time axis."""
        hold_tokens = reading.are_tokens(inputs, self.inputs, are_tokens)
        batch = reading.read_tokens(inputs, self.tokenizer, hold_tokens)
        if self.max_tokens is not None:
            reading.tell_cut(batch.tokens, self.max_tokens)
        return reading.cut(batch, self.max_tokens)

    def take_off_boundaries(
        self, layers: tf.Tensor, mask: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Layers and mask as the source gives them, without boundaries unless they are kept."""
        layers = layers if self.fine_tune else tf.stop_gradient(layers)
        if self.keep_boundaries or not self.source.has_boundaries:
            return layers, mask
        return drop_boundaries(layers, mask)

    def outputs_of(
        self,
        layers: tf.Tensor,
        mask: tf.Tensor,
        time: int | tf.Tensor | None = None,
        training: bool | None = None,
    ) -> Any:
        """The outputs, of layers without boundaries; padded to `time` positions if it is given."""
        if time is not None:
            layers, mask = naming.pad_time(layers, mask, time + self._n_boundaries)
        mixed = [self.drop(mix(layers, mask=mask), training=training) for mix in self.mixes]

        def make(name, index):
            if name == "default":
                return self.pool(mixed[index], mask)
            output = mixed[index] if name == "elmo" else naming.unmixed_output(name, layers)
            return set_mask(output, mask) if naming.has_mask(name) else output

        return self.collect(make)

    def compute_mask(self, inputs, previous_mask=None):
        """The masks of the outputs, in their structure: bool `(batch, time)` or None.

        `call` sets the same masks. In a symbolic call there is none yet: it comes with the tensors.
        """
        is_symbolic = isinstance(reading.tokens_of(inputs), keras.KerasTensor)
        if is_symbolic or not any(naming.has_mask(name) for name in self.names()):
            return None
        hold_tokens = reading.are_tokens(inputs, self.inputs)
        batch = reading.read_tokens(inputs, self.tokenizer, hold_tokens)
        batch = reading.cut(batch, self.max_tokens)
        lengths = batch.tokens.row_lengths() + self._n_boundaries
        mask = tf.sequence_mask(lengths, batch.time + self._n_boundaries)
        return self.collect(lambda name, _: mask if naming.has_mask(name) else None)

    def compute_output_shape(self, input_shape):
        spec = self.compute_output_spec(keras.KerasTensor(input_shape, "string"))
        return keras.tree.map_structure(lambda output: output.shape, spec)

    def compute_output_spec(
        self, inputs: Any, training: bool | None = None, are_tokens: bool | None = None
    ) -> Any:
        hold_tokens = reading.are_tokens(inputs, self.inputs, are_tokens)
        time = reading.static_time(inputs, hold_tokens)
        if time is not None:
            time = min(time, self.max_tokens or time) + self._n_boundaries
        batch = reading.tokens_of(inputs).shape[0]

        def make(name, _):
            shape = naming.output_shape(name, batch, time, self.num_layers, self.output_dim)
            return keras.KerasTensor(shape, "float32")

        return self.collect(make)

    def get_config(self):
        names = self.output_names
        return {
            **super().get_config(),
            "source": keras.saving.serialize_keras_object(self.source),
            "output": names if isinstance(names, str) else list(names),
            "mix": keras.saving.serialize_keras_object(ScalarMix.from_config(self._mix_config)),
            **{name: getattr(self, name) for name in PLAIN_ARGUMENTS},
        }

    @classmethod
    def from_config(cls, config):
        made = {
            name: keras.saving.deserialize_keras_object(config[name])
            for name in ("source", "mix")
            if isinstance(config.get(name), dict)
        }
        return cls(**{**config, **made})

    def _existing_mixes(self):
        if not self.mixes:
            raise ValueError(
                "The layer must have a mix to have weights of it. Received: "
                f"output={self.output_names!r}. Put out 'default' or 'elmo' too."
            )
        return self.mixes

    def names(self) -> tuple[str, ...]:
        """The outputs' names, a tuple."""
        return self.output_names if isinstance(self.output_names, tuple) else (self.output_names,)

    def collect(self, make: Callable[[str, int], Any]) -> Any:
        """`make(name, index of the mix)` for every output, as a tensor, list or dict."""

        def of(name):
            if name in naming.MIXED and self.num_mixes > 1:
                return [make(name, index) for index in range(self.num_mixes)]
            return make(name, 0)

        if isinstance(self.output_names, tuple):
            return {name: of(name) for name in self.output_names}
        return of(self.output_names)

    def pool(self, mixed: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        """The mean of mixed vectors over the words."""
        if self.keep_boundaries:
            mixed, mask = mixed[:, 1:-1], mask[:, 2:]
        return masked_mean(mixed, mask)

    @property
    def _n_boundaries(self):
        return 2 if self.keep_boundaries else 0

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


def _is_dense_symbol_of_rank_two(inputs):
    is_dense = isinstance(inputs, keras.KerasTensor) and not getattr(inputs, "ragged", False)
    return is_dense and len(inputs.shape) == 2
