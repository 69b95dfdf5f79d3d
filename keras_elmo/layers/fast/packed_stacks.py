"""Both directions' LSTM stacks over packed sentences."""

import functools

import tensorflow as tf

from keras_elmo.layers.fast import packing as packing_of
from keras_elmo.layers.fast.packing import Packing
from keras_elmo.layers.fast.traced import traced_once
from keras_elmo.layers.precision import affine, matmul, product_dtype
from keras_elmo.layers.projected_lstm import cell


def packed_stacks(stacks, inputs, packing, initial_states):
    """Run two stacks side by side; a step has a row for each sentence that is not at its end.

    Layer after layer: within one, a loop over blocks of steps, and in each a loop over its steps.

    Args:
        stacks: two LSTMStacks of the same sizes.
        inputs: for each a float32 `(n, projection_dim)` in packed order.
        packing: Packing of `n` positions.
        initial_states: for each a tuple of pairs `(c, m)`, rows in the sentences' own order.

    Returns:
        `(outputs, states)`: for each stack its layers' outputs `(n, projection_dim)` in packed
        order, and its states after each sentence, like `initial_states`.
    """
    outputs, states = ([], []), ([], [])
    x = tuple(inputs)
    for layer in range(stacks[0].n_layers):
        lstms = [stack.lstms[layer] for stack in stacks]
        run = _layer_runner(_sizes(lstms[0]), product_dtype(lstms[0]), packing_of.MOST_ROWS)
        weights = tuple(
            tuple(map(tf.convert_to_tensor, (lstm.W_0, lstm.B, lstm.W_P_0))) for lstm in lstms
        )
        initial = tuple(states_of[layer] for states_of in initial_states)
        found, final = run(weights, x, packing, initial)
        skips = layer > 0 and stacks[0].use_skip_connections
        x = tuple(y + below for y, below in zip(found, x, strict=True)) if skips else found
        for k in range(len(stacks)):
            outputs[k].append(x[k])
            states[k].append(final[k])
    return tuple(map(tuple, outputs)), tuple(map(tuple, states))


def _sizes(lstm):
    return lstm.input_dim, lstm.lstm_dim, lstm.projection_dim, lstm.cell_clip, lstm.proj_clip


@functools.cache
def _layer_runner(sizes, dtype, most_rows):
    """A layer of both directions as a graph that all layers of the same sizes share."""
    input_dim, lstm_dim, projection_dim, *clips = sizes
    vector = tf.TensorSpec((None,), tf.int32)
    kernel = tf.TensorSpec((input_dim + projection_dim, 4 * lstm_dim))
    weights = (kernel, tf.TensorSpec((4 * lstm_dim,)), tf.TensorSpec((lstm_dim, projection_dim)))
    state = (tf.TensorSpec((None, lstm_dim)), tf.TensorSpec((None, projection_dim)))

    def run(weights, inputs, packing, initial_states):
        return _run_layer(weights, inputs, packing, initial_states, clips, dtype, most_rows)

    return traced_once(
        run,
        (weights, weights),
        (tf.TensorSpec((None, input_dim)),) * 2,
        Packing(*(vector for _ in Packing._fields)),
        (state, state),
    )


def _run_layer(weights, inputs, packing, initial_states, clips, dtype, most_rows):
    layers = [_parts(*own, clips, dtype) for own in weights]
    by_row = tf.nest.map_structure(lambda x: tf.gather(x, packing.order), initial_states)
    # Outputs, and states of the rows that leave, step by step behind an empty first one.
    kept = [tuple(_array(packing, x) for x in (m, c, m)) for c, m in initial_states]
    ends = tf.concat([packing.offsets, tf.shape(inputs[0])[:1]], axis=0)

    def run_block(block, kept, states):
        begin, end = packing.blocks[block], packing.blocks[block + 1]
        group = packing.groups[block]
        rows = slice(group * most_rows, group * most_rows + packing.sizes[begin])
        states = tf.cond(
            group < 0, lambda: states, lambda: tf.nest.map_structure(lambda x: x[rows], by_row)
        )
        place = ends[begin]
        gates = [of(x[place : ends[end]]) for (of, _), x in zip(layers, inputs, strict=True)]

        def run_step(time, kept, states):
            first, stay = ends[time] - place, packing.staying[time]
            rows = slice(first, first + packing.sizes[time])
            leaving = tf.range(stay, packing.sizes[time])
            new_kept, new_states = [], []
            for (_, step), z, arrays, state in zip(layers, gates, kept, states, strict=True):
                c, m = step(z[rows], *state)
                # A gather, for a slice would keep all of c in memory; all of m is kept anyway.
                values = (m, tf.gather(c, leaving), m[stay:])
                written = [a.write(time + 1, v) for a, v in zip(arrays, values, strict=True)]
                new_kept.append(tuple(written))
                new_states.append((c[:stay], m[:stay]))
            return time + 1, new_kept, tuple(new_states)

        _, kept, states = tf.while_loop(
            lambda time, *_: time < end, run_step, (begin, kept, states)
        )
        return block + 1, kept, states

    blocks = tf.size(packing.groups)
    none = tf.nest.map_structure(lambda x: x[:0], by_row)
    _, kept, _ = tf.while_loop(
        lambda block, *_: block < blocks, run_block, (0, kept, none), parallel_iterations=1
    )
    outputs = tuple(array.concat() for array, _, _ in kept)
    finals = tuple(
        tuple(tf.gather(states.concat(), packing.ends) for states in left) for _, *left in kept
    )
    return outputs, finals


def _parts(kernel, bias, projection, clips, dtype):
    """The input's part of the gates for many positions, and the recurrence of one position."""
    input_dim = kernel.shape[0] - projection.shape[1]
    kernel, projection = tf.cast(kernel, dtype), tf.cast(projection, dtype)

    def input_gates(x):
        return matmul(x, kernel[:input_dim], dtype)

    def step(gates, c, m):
        gates = affine(m, kernel[input_dim:], bias, dtype) + gates
        return cell(gates, c, projection, *clips)

    return input_gates, step


def _array(packing, like):
    """A TensorArray for rows like those of `like`, a piece a step, the first one empty."""
    array = tf.TensorArray(
        like.dtype,
        size=tf.size(packing.sizes) + 1,
        infer_shape=False,
        element_shape=(None, like.shape[1]),
    )
    return array.write(0, like[:0])
