"""Where the positions of sentences stand when no step of a recurrence is spent on padding."""

import functools
from typing import NamedTuple

import tensorflow as tf

from keras_elmo.layers.fast.traced import traced_once

BLOCK_POSITIONS = 256
MOST_ROWS = 128  # Fewer leave products slow, more push the gates of a step out of the cache.


class Packing(NamedTuple):
    """Places of the positions of ragged sentences, step by step.

    Sentences go through the recurrence from the longest to the shortest, in groups of at most
    `MOST_ROWS`, one sentence a row; a row leaves with its sentence's last position. A packed array
    holds all rows of a group's first step, then those of its second, and so on, `n` positions in
    all. Step numbers go on from group to group.

    Attributes:
        forward: int32 `(n,)`, the packed place of each position of the flat sentences.
        backward: int32 `(n,)`, the same with each sentence from its last position to its first.
        sizes: int32 `(steps,)`, rows at work in each step.
        staying: int32 `(steps,)`, how many of them go on in the next.
        offsets: int32 `(steps,)`, the packed place of each step's first row.
        groups: int32 `(blocks,)`, the number of the group whose first step a block begins with, or
            -1 where a block goes on with a group.
        blocks: int32 `(blocks + 1,)`, the first step of each block of steps of about
            `BLOCK_POSITIONS` positions, and `steps`; the input's part of the gates is computed for
            a block at once.
        order: int32 `(batch,)`, the sentences by row, group after group.
        ends: int32 `(batch,)`, for each sentence how many rows have left before its own.
    """

    forward: tf.Tensor
    backward: tf.Tensor
    sizes: tf.Tensor
    staying: tf.Tensor
    offsets: tf.Tensor
    groups: tf.Tensor
    blocks: tf.Tensor
    order: tf.Tensor
    ends: tf.Tensor


def pack(lengths):
    """The `Packing` of sentences of these lengths, int32 `(batch,)`, each at least 1."""
    return _packer(MOST_ROWS, BLOCK_POSITIONS)(tf.convert_to_tensor(lengths))


@functools.cache
def _packer(most_rows, block_positions):
    """`pack` for these sizes of groups and blocks, a graph that is made once."""
    lengths = tf.TensorSpec((None,), tf.int32)
    return traced_once(lambda lengths: _pack(lengths, most_rows, block_positions), lengths)


def _pack(lengths, most_rows, block_positions):
    batch = tf.shape(lengths)[0]
    order = tf.argsort(lengths, direction="DESCENDING", stable=True)
    group, row = tf.range(batch) // most_rows, tf.range(batch) % most_rows
    by_row = tf.gather(lengths, order)
    groups = tf.cumsum(tf.concat([[0], by_row[::most_rows]], axis=0))
    begin = tf.gather(groups, group)
    leaving = tf.argsort((begin + by_row) * most_rows + row)
    rank = tf.math.invert_permutation(order)
    step, last = (tf.gather(x, rank) for x in (begin, begin + by_row - 1))

    sentence = tf.repeat(tf.range(batch), lengths)
    position = tf.range(tf.size(sentence)) - tf.gather(tf.cumsum(lengths, exclusive=True), sentence)
    forward = tf.gather(step, sentence) + position
    backward = tf.gather(last, sentence) - position
    sizes = tf.math.unsorted_segment_sum(tf.ones_like(forward), forward, groups[-1])
    offsets = tf.cumsum(sizes, exclusive=True)
    left = tf.math.unsorted_segment_sum(tf.ones_like(last), last, groups[-1])
    row = tf.gather(tf.gather(row, rank), sentence)
    number = tf.range(tf.size(sizes))
    starts = tf.scatter_nd(groups[:-1, tf.newaxis], tf.range(1, tf.size(groups)), tf.shape(sizes))
    block = offsets // block_positions
    is_first = (starts > 0) | (block != tf.roll(block, 1, axis=0))
    blocks = tf.boolean_mask(number, is_first)
    return Packing(
        tf.gather(offsets, forward) + row,
        tf.gather(offsets, backward) + row,
        sizes,
        sizes - left,
        offsets,
        tf.gather(starts, blocks) - 1,
        tf.concat([blocks, groups[-1:]], axis=0),
        order,
        tf.gather(tf.math.invert_permutation(leaving), rank),
    )
