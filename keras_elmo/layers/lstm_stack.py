"""The LSTM layers of one direction."""

import tensorflow as tf

from keras_elmo.layers.freezable import FreezableLayer
from keras_elmo.layers.projected_lstm import ProjectedLSTM


class LSTMStack(FreezableLayer):
    """`n_layers` projected LSTMs, each reading the one below; one direction of the biLM.

    With `use_skip_connections`, layers from the second on add their input to their output (not to
    their state). Peters et al. 2018, section 3.4.

    `dropout` is the share of each layer's inputs dropped in training.

    Call arguments:
        x, lengths, resets: as in `ProjectedLSTM`, `x` of size `projection_dim`.
        initial_states: a state for each layer, or None for zeros.
        seed: int32 `(2,)`, what is dropped is a function of it alone; None drops nothing.

    Returns:
        `(outputs, states)`: a tuple of `n_layers` float32 `(batch, time, projection_dim)` and a
        tuple of as many states.
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
        self.lstms = [
            ProjectedLSTM(
                lstm_dim,
                projection_dim,
                cell_clip,
                proj_clip,
                frozen=frozen,
                dtype=self.dtype_policy,
                name=f"lstm_{k}",
            )
            for k in range(n_layers)
        ]

    def build(self, input_shape=None):
        for lstm in self.lstms:
            lstm.build((None, None, self.projection_dim))

    def call(self, x, lengths=None, initial_states=None, resets=None, seed=None):
        outputs = []
        states = []
        for k, lstm in enumerate(self.lstms):
            below = x if seed is None else self._drop(x, seed, k)
            initial = None if initial_states is None else initial_states[k]
            output, state = lstm(below, lengths=lengths, initial_state=initial, resets=resets)
            x = output + x if k > 0 and self.use_skip_connections else output
            outputs.append(x)
            states.append(state)
        return tuple(outputs), tuple(states)

    def _drop(self, x, seed, layer):
        if not self.dropout:
            return x
        own_seed = tf.random.experimental.stateless_fold_in(seed, layer)
        return tf.nn.experimental.stateless_dropout(x, self.dropout, own_seed)

    def zero_states(self, batch_size):
        """The states before a sentence, for a batch of `batch_size` rows."""
        return tuple(lstm.zero_state(batch_size) for lstm in self.lstms)
