"""The bidirectional language model without its softmax."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from keras_elmo.basics.checks import check_choice
from keras_elmo.basics.files import whole_files
from keras_elmo.bilm.config import BiLMConfig
from keras_elmo.bilm.hdf5 import open_weights, write_weights
from keras_elmo.bilm.names import named_variables
from keras_elmo.layers.contextual_encoder import ContextualEncoder
from keras_elmo.layers.freezable import without_initial_values
from keras_elmo.layers.lstm_stack import LSTMStack
from keras_elmo.layers.token_encoder import TokenEncoder
from keras_elmo.presets.open_model import open_model
from keras_elmo.text.characters import boundary_char_ids, word_char_ids
from keras_elmo.text.rules import NUM_CHARACTERS
from keras_elmo.text.tokens import as_tokens


class BiLMOutput(NamedTuple):
    """What a biLM makes of a batch.

    Attributes:
        layers: float32 `(batch, L + 1, time, 2 * projection_dim)`, 0 at padding.
        mask: bool `(batch, time)`.
        states: `(forward, backward)`, each a tuple of L pairs `(c, m)`.
    """

    layers: tf.Tensor
    mask: tf.Tensor
    states: tuple


@keras.saving.register_keras_serializable(package="keras_elmo")
class BiLM(keras.layers.Layer):
    """Characters of a sentence to the L + 1 layers of a bidirectional language model.

    Token encoder (character CNN, highways, projection), then two stacks of L >= 2 LSTM layers, one
    a direction. Layer 0 is the token vector written twice, layer k is
    `[forward_k, backward_k]`. Peters et al. 2018, sections 3.1 and 3.4.

    Every call starts from zero states unless states are given, and keeps none. Results of a row
    depend on nothing else in the batch.

    Args:
        config: its shape.
        frozen: whether the weights are created non-trainable. Flipping `trainable` later never
            thaws a frozen biLM.
        dropout: share of the LSTM layers' inputs dropped in training.

    Call arguments:
        char_ids: int32 `(batch, time, max_characters_per_token)` with sentence boundaries; a row
            of zeros is padding, which must stand after the sentence.
        initial_states: `states` of an earlier output, or None for zeros.

    Returns:
        BiLMOutput.

    Example:
        >>> bilm = BiLM.load("english-small")
        >>> bilm.embed_tokens(tf.ragged.constant([["I", "agree"]])).layers.shape
        TensorShape([1, 3, 4, 512])

    Source: `allenai/bilm-tf`, `BidirectionalLanguageModelGraph`.
    """

    def __init__(
        self, config: BiLMConfig, frozen: bool = True, dropout: float = 0.0, **kwargs: Any
    ):
        if not isinstance(config, BiLMConfig):
            raise TypeError(
                f"`config` must be a BiLMConfig. Received: {type(config).__name__}. "
                "Read files with `BiLM.load`."
            )
        super().__init__(autocast=False, **kwargs)
        self.config = config
        self.frozen = frozen
        self.dropout = dropout
        self.token_encoder = TokenEncoder(
            config.projection_dim,
            config.filters,
            NUM_CHARACTERS,
            config.char_dim,
            config.n_highway,
            config.activation,
            frozen=frozen,
            dtype=self.dtype_policy,
            name="token_encoder",
        )
        self.contextual_encoder = ContextualEncoder(
            self._make_stack("forward_stack"),
            self._make_stack("backward_stack"),
            dtype=self.dtype_policy,
            name="contextual_encoder",
        )
        self.build()

    def _make_stack(self, name):
        return LSTMStack(
            self.config.n_layers,
            self.config.lstm_dim,
            self.config.projection_dim,
            self.config.cell_clip,
            self.config.proj_clip,
            self.config.use_skip_connections,
            self.dropout,
            frozen=self.frozen,
            dtype=self.dtype_policy,
            name=name,
        )

    def build(self, input_shape=None):
        self.token_encoder.build()
        self.contextual_encoder.build()

    @property
    def num_layers(self) -> int:
        """Number of layers that come out, L + 1."""
        return self.config.n_layers + 1

    @property
    def output_dim(self) -> int:
        """Size of a layer's vector, `2 * projection_dim`."""
        return self.config.output_dim

    @property
    def tokenizer(self) -> str | None:
        """The tokenising rule that the model was trained with, or None."""
        return self.config.tokenizer

    def call(self, char_ids, initial_states=None):
        self._check_char_ids(char_ids)
        mask = tf.reduce_any(char_ids > 0, axis=-1)
        lengths = tf.reduce_sum(tf.cast(mask, tf.int32), axis=-1)
        batch, time, characters = tf.unstack(tf.shape(char_ids))
        vectors = self.token_vectors(tf.reshape(char_ids, [-1, characters]))
        vectors = tf.reshape(vectors, [batch, time, self.config.projection_dim])
        vectors = tf.where(mask[..., tf.newaxis], vectors, 0.0)
        return self.contextualize(vectors, lengths, initial_states)

    def _check_char_ids(self, char_ids):
        characters = self.config.max_characters_per_token
        fits = char_ids.shape.rank == 3 and char_ids.shape[-1] in (None, characters)
        if not fits or not char_ids.dtype.is_integer:
            raise ValueError(
                f"`char_ids` must be integers of shape (batch, time, {characters}). "
                f"Received: dtype={char_ids.dtype.name}, shape={char_ids.shape}. "
                "Make them with `word_char_ids`, or give tokens to `embed_tokens`."
            )

    def token_vectors(self, char_ids: tf.Tensor) -> tf.Tensor:
        """Encode words: int32 `(words, characters)` to float32 `(words, projection_dim)`."""
        return self.token_encoder(char_ids)

    def contextualize(
        self, token_vectors: tf.Tensor, lengths: tf.Tensor, initial_states: tuple | None = None
    ) -> BiLMOutput:
        """Run both directions over token vectors.

        Args:
            token_vectors: float32 `(batch, time, projection_dim)`, 0 at padding.
            lengths: int32 `(batch,)`.
            initial_states: `states` of an earlier output, or None for zeros.
        """
        layers, states = self.contextual_encoder(
            token_vectors, lengths=lengths, initial_states=initial_states
        )
        mask = tf.sequence_mask(lengths, tf.shape(token_vectors)[1])
        return BiLMOutput(layers, mask, states)

    def embed_tokens(
        self,
        tokens: tf.RaggedTensor | Sequence[Sequence[str]],
        initial_states: tuple | None = None,
    ) -> BiLMOutput:
        """Run the biLM over tokens; the character CNN sees each distinct word once.

        Args:
            tokens: RaggedTensor string `(batch, None)`, or what `as_tokens` takes, without sentence
                boundaries.
            initial_states: `states` of an earlier output, or None for zeros.

        Returns:
            BiLMOutput with begin and end of sentence: `time` is the longest row plus 2.
        """
        tokens = tokens if isinstance(tokens, tf.RaggedTensor) else as_tokens(tokens)
        table, rows = self.token_table(tokens.flat_values)
        return self.embed_table(table, tokens.with_flat_values(rows), initial_states)

    def embed_table(
        self, table: tf.Tensor, rows: tf.RaggedTensor, initial_states: tuple | None = None
    ) -> BiLMOutput:
        """Run the biLM over rows of a token table.

        A frozen biLM spends no work on padding, however sentences differ in length. One that
        trains takes the way of `contextualize`, which has a gradient.

        Args:
            table: float32 `(words, projection_dim)`, from `token_table`.
            rows: RaggedTensor int32 `(batch, None)`, the row of each token, without boundaries.
            initial_states: `states` of an earlier output, or None for zeros.

        Returns:
            BiLMOutput with begin and end of sentence: `time` is the longest row plus 2.
        """
        if initial_states is None:
            initial_states = self.contextual_encoder.zero_states(rows.nrows())
        rows = _with_boundaries(rows)
        if not self.frozen:
            vectors = tf.gather(tf.pad(table, [[1, 0], [0, 0]]), (rows + 1).to_tensor(0))
            lengths = tf.cast(rows.row_lengths(), tf.int32)
            return self.contextualize(vectors, lengths, initial_states)
        layers, states = self.contextual_encoder.packed(table, rows, initial_states)
        mask = tf.sequence_mask(rows.row_lengths(), tf.shape(layers)[2])
        return BiLMOutput(layers, mask, states)

    def token_table(self, words: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Encode the sentence boundaries and each distinct word once.

        Words that share their spelled bytes are one word, to the last bit of its vector.

        Args:
            words: string tensor `(n,)`.

        Returns:
            `(vectors, rows)`: float32 `(2 + distinct words, projection_dim)`, begin and end of
            sentence first, and the int32 `(n,)` row of each word.
        """
        characters = self.config.max_characters_per_token
        distinct, word_of_token = tf.unique(tf.strings.substr(words, 0, characters - 2))
        char_ids = tf.concat(
            [boundary_char_ids(characters), word_char_ids(distinct, characters)], axis=0
        )
        return self.token_vectors(char_ids), word_of_token + 2

    @classmethod
    def load(
        cls,
        place: str | os.PathLike | tuple | list,
        frozen: bool = True,
        strict: bool = False,
        **kwargs: Any,
    ) -> "BiLM":
        """Read a biLM from files in the AllenAI / bilm-tf layout.

        Args:
            place: name of a published model (`keras_elmo presets`), which is downloaded once; a
                directory; an archive; or a pair of options file and weights file.
            frozen: whether the weights are created non-trainable.
            strict: whether datasets beyond the biLM's are an error.
            **kwargs: passed on to the layer.

        Raises:
            FileNotFoundError: nothing is found at `place`.
            ValueError: the files are not what they should be.
        """
        with open_model(place) as files:
            config = BiLMConfig.from_json(files.options, source=files.options_name)
            weights = open_weights(files.weights, config, files.weights_name, strict)
            with weights as arrays, without_initial_values():
                bilm = cls(config, frozen=frozen, **kwargs)
                variables = bilm.named_variables()
                for key, array in arrays:
                    variables[key].assign(array)
        return bilm

    def save(self, directory: str | os.PathLike, dtype: str = "float32") -> None:
        """Write `options.json` and `weights.hdf5`, which AllenNLP and bilm-tf read too.

        Args:
            directory: where to write; made where it does not exist.
            dtype: `"float32"`, or `"float16"` for half the size.
        """
        check_choice("dtype", dtype, ("float32", "float16"))
        with whole_files(directory) as scratch:
            write_weights(scratch / "weights.hdf5", self.arrays(), dtype)
            (scratch / "options.json").write_bytes(self.config.to_json())

    def arrays(self) -> dict[str, np.ndarray]:
        """The weights as a dict of HDF5 key to float32 array."""
        return {key: np.asarray(variable) for key, variable in self.named_variables().items()}

    def set_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Set the weights from a dict of HDF5 key to array, as `arrays()` gives it.

        Raises:
            ValueError: a key is missing or unknown, or a shape is wrong; nothing is set then.
        """
        variables = self.named_variables()
        expected = {key: tuple(variable.shape) for key, variable in variables.items()}
        received = {key: tuple(np.shape(array)) for key, array in arrays.items()}
        if received != expected:
            keys = [
                key for key in {**expected, **received} if expected.get(key) != received.get(key)
            ]
            raise ValueError(
                f"`arrays` must hold each tensor of the biLM in its shape. '{keys[0]}' must have "
                f"shape {expected.get(keys[0])}. Received: {received.get(keys[0])} (None: no such "
                f"tensor; {len(keys)} in all differ). Take them from a biLM of the same config."
            )
        for key, variable in variables.items():
            variable.assign(arrays[key])

    def fingerprint(self) -> str:
        """The sha256 of options and weights, in hexadecimal: equal for equal models."""
        digest = hashlib.sha256(self.config.to_json())
        for key, array in self.arrays().items():
            digest.update(key.encode())
            digest.update(np.ascontiguousarray(array))
        return digest.hexdigest()

    def named_variables(self) -> dict[str, keras.Variable]:
        """The weights as a dict of HDF5 key to Keras variable."""
        return named_variables(self.token_encoder, self.contextual_encoder)

    def get_config(self):
        config = super().get_config()
        config.update(config=self.config.to_options(), frozen=self.frozen, dropout=self.dropout)
        return config

    @classmethod
    def from_config(cls, config):
        return cls(**{**config, "config": BiLMConfig.from_options(config["config"])})


def _with_boundaries(rows):
    """Rows of a token table, begin and end of sentence put around each sentence."""
    edge = tf.zeros((rows.nrows(), 1), tf.int32)
    begin, end = (tf.RaggedTensor.from_tensor(edge + row) for row in (0, 1))
    return tf.concat([begin, rows, end], axis=1)
