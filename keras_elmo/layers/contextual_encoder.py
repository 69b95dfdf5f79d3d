"""The contextual encoder: token vectors to all layers of both directions."""

import keras
import tensorflow as tf

from keras_elmo.layers.freezable import FreezableLayer
from keras_elmo.layers.lstm_stack import LSTMStack
from keras_elmo.layers.sequences import reverse_sequences


@keras.saving.register_keras_serializable(package="keras_elmo")
class ContextualEncoder(FreezableLayer):
    """Layer 0 is the token vector written twice, layer k is `[forward_k, backward_k]`.

    Each direction reads only its own layers below. Peters et al. 2018, section 3.1 and 3.2. The
    interface (token vectors, lengths, states -> all layers, states) is not bound to LSTMs.

    Positions beyond a row's length give 0 in every layer and leave the states as they were.

    Args:
        n_layers, lstm_dim, projection_dim, cell_clip, proj_clip, use_skip_connections, dropout,
        frozen: as in `LSTMStack`.

    Call arguments:
        token_vectors: float32 `(batch, time, projection_dim)`, 0 at padding.
        lengths: int32 `(batch,)`.
        initial_states: `(forward, backward)` states of `LSTMStack`, or None for zeros.
        training: bool, whether dropout applies.

    Returns:
        `(layers, states)`: float32 `(batch, n_layers + 1, time, 2 * projection_dim)`, the pair of
        final states. The backward direction ends at a row's first position.
    """

    def __init__(
        self,
        n_layers,
        lstm_dim,
        projection_dim,
        cell_clip=None,
        proj_clip=None,
        use_skip_connections=True,
        dropout=0.0,
        frozen=False,
        **kwargs,
    ):
        super().__init__(frozen=frozen, **kwargs)
        self.n_layers = n_layers
        self.lstm_dim = lstm_dim
        self.projection_dim = projection_dim
        self.cell_clip = cell_clip
        self.proj_clip = proj_clip
        self.use_skip_connections = use_skip_connections
        self.dropout = dropout
        self.forward_stack, self.backward_stack = (
            LSTMStack(
                n_layers,
                lstm_dim,
                projection_dim,
                cell_clip,
                proj_clip,
                use_skip_connections,
                dropout,
                frozen=frozen,
                dtype=self.dtype_policy,
                name=name,
            )
            for name in ("forward_stack", "backward_stack")
        )

    def build(self, input_shape=None):
        self.forward_stack.build()
        self.backward_stack.build()

    def call(self, token_vectors, lengths, initial_states=None, training=False):
        forward_states, backward_states = initial_states or (None, None)
        forward, forward_states = self.forward_stack(
            token_vectors, lengths=lengths, initial_states=forward_states, training=training
        )
        backward, backward_states = self.backward_stack(
            reverse_sequences(token_vectors, lengths),
            lengths=lengths,
            initial_states=backward_states,
            training=training,
        )
        layers = [tf.concat([token_vectors, token_vectors], axis=-1)]
        for ahead, behind in zip(forward, backward, strict=True):
            layers.append(tf.concat([ahead, reverse_sequences(behind, lengths)], axis=-1))
        return tf.stack(layers, axis=1), (forward_states, backward_states)

    def get_config(self):
        config = super().get_config()
        config.update(
            n_layers=self.n_layers,
            lstm_dim=self.lstm_dim,
            projection_dim=self.projection_dim,
            cell_clip=self.cell_clip,
            proj_clip=self.proj_clip,
            use_skip_connections=self.use_skip_connections,
            dropout=self.dropout,
        )
        return config
