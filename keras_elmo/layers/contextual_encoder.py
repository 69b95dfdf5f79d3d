"""The contextual encoder: token vectors to all layers of both directions."""

import keras
import tensorflow as tf

from keras_elmo.layers.fast.packed_stacks import packed_stacks
from keras_elmo.layers.fast.packing import pack
from keras_elmo.layers.sequences import reverse_sequences


class ContextualEncoder(keras.layers.Layer):
    """Layer 0 is the token vector written twice, layer k is `[forward_k, backward_k]`.

    Each direction reads only its own layers below. Peters et al. 2018, section 3.1 and 3.2. The
    interface (token vectors, lengths, states -> all layers, states) is not bound to LSTMs.

    Positions beyond a row's length give 0 in every layer and leave the states as they were.

    Args:
        forward_stack: LSTMStack, or another layer with its call arguments and returns.
        backward_stack: one of the same shape, for the other direction.

    Call arguments:
        token_vectors: float32 `(batch, time, projection_dim)`, 0 at padding.
        lengths: int32 `(batch,)`.
        initial_states: `(forward, backward)` states of `LSTMStack`, or None for zeros.

    Returns:
        `(layers, states)`: float32 `(batch, L + 1, time, 2 * projection_dim)`, the pair of
        final states. The backward direction ends at a row's first position.
    """

    def __init__(self, forward_stack, backward_stack, **kwargs):
        super().__init__(autocast=False, **kwargs)
        self.forward_stack = forward_stack
        self.backward_stack = backward_stack

    def build(self, input_shape=None):
        self.forward_stack.build()
        self.backward_stack.build()

    def call(self, token_vectors, lengths, initial_states=None):
        forward_states, backward_states = initial_states or (None, None)
        forward, forward_states = self.forward_stack(
            token_vectors, lengths=lengths, initial_states=forward_states
        )
        backward, backward_states = self.backward_stack(
            reverse_sequences(token_vectors, lengths),
            lengths=lengths,
            initial_states=backward_states,
        )
        layers = [tf.concat([token_vectors, token_vectors], axis=-1)]
        for ahead, behind in zip(forward, backward, strict=True):
            layers.append(tf.concat([ahead, reverse_sequences(behind, lengths)], axis=-1))
        return tf.stack(layers, axis=1), (forward_states, backward_states)

    def zero_states(self, batch_size):
        """The states before a sentence, of both directions, for `batch_size` rows."""
        stacks = (self.forward_stack, self.backward_stack)
        return tuple(stack.zero_states(batch_size) for stack in stacks)

    def packed(self, table, rows, initial_states):
        """The same as `call`, without a step of work on padding; has no gradient.

        Ragged `rows` has each position's row of `table`, token vectors, at least one a sentence.
        """
        packing = pack(tf.cast(rows.row_lengths(), tf.int32))
        words = rows.flat_values
        stacks = (self.forward_stack, self.backward_stack)
        places = (packing.forward, packing.backward)
        inputs = [tf.gather(table, _by_place(words, place)) for place in places]
        outputs, states = packed_stacks(stacks, inputs, packing, initial_states)
        by_position = [rows.with_flat_values(place) for place in places]
        return _side_by_side(table, rows, outputs, by_position), states


def _by_place(values, places):
    """`values` in packed order."""
    return tf.gather(values, tf.math.invert_permutation(places))


def _side_by_side(table, rows, outputs, places):
    """All layers, `(batch, layers, time, 2 * dim)`, 0 at padding.

    One gather out of all vectors there are: nothing of that size is made but the result. `outputs`
    are for each direction its layers' outputs `(n, dim)` in packed order, `places` like `rows` each
    position's place in that order.
    """
    vectors = [table]
    layers = [(rows, rows)]
    for pair in zip(*outputs, strict=True):
        numbers = []
        for output, place in zip(pair, places, strict=True):
            numbers.append(place + sum(tf.shape(x)[0] for x in vectors))
            vectors.append(output)
        layers.append(numbers)
    nothing = sum(tf.shape(x)[0] for x in vectors)
    vectors.append(tf.zeros_like(table[:1]))
    numbers = [tf.stack([x.to_tensor(nothing) for x in pair], axis=-1) for pair in layers]
    found = tf.gather(tf.concat(vectors, axis=0), tf.stack(numbers, axis=1))
    return tf.reshape(found, tf.concat([tf.shape(found)[:3], [2 * table.shape[1]]], axis=0))
