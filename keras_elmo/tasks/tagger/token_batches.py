"""Batches of sentences of about one length, which saves padding."""

import random

import keras
import numpy as np
import tensorflow as tf

BATCHES_SORTED_AT_ONCE = 32


class TokenBatches(keras.utils.PyDataset):
    """Tokens, and class numbers if there are any, in padded batches.

    Without `shuffle`, sentences come from the shortest to the longest. With it, every epoch
    draws them anew: blocks of some batches are sorted by length, and the batches shuffled.
    `keras.utils.set_random_seed` makes the draws repeat.

    Args:
        tokens: RaggedTensor string (n, None).
        numbers: RaggedTensor int32 (n, None), or None.
        batch_size: int.
        shuffle: bool.

    Returns:
        From `batches[i]`: tokens, string (batch, time), `""` at padding, time at least 1; with
        numbers a pair of these and int32 (batch, time), 0 at padding.
    """

    def __init__(self, tokens, numbers=None, batch_size=128, shuffle=False):
        super().__init__()
        self.tokens, self.numbers = tokens, numbers
        self.batch_size, self.shuffle = batch_size, shuffle
        self.lengths = tokens.row_lengths().numpy()
        self.rows = self._draw()

    @property
    def num_batches(self):
        return len(self.rows)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        rows = self.rows[index]
        tokens = self.pad(tf.gather(self.tokens, rows))
        if self.numbers is None:
            return tokens
        return tokens, self.pad(tf.gather(self.numbers, rows), 0)

    @staticmethod
    def pad(rows, padding=""):
        """A ragged tensor (n, None) as a dense one (n, time), time at least 1."""
        padded = rows.to_tensor(padding)
        missing = tf.maximum(0, 1 - tf.shape(padded)[1])
        return tf.pad(padded, [[0, 0], [0, missing]], constant_values=padding)

    def on_epoch_end(self):
        if self.shuffle:
            self.rows = self._draw()

    def _draw(self):
        """Row numbers of every batch: list of int arrays."""
        n = len(self.lengths)
        if not self.shuffle:
            return self._cut(self._by_length(np.arange(n)))
        rng = np.random.default_rng(random.randrange(2**32))
        order = rng.permutation(n)
        block = BATCHES_SORTED_AT_ONCE * self.batch_size
        blocks = [self._by_length(order[start : start + block]) for start in range(0, n, block)]
        batches = [batch for rows in blocks for batch in self._cut(rows)]
        rng.shuffle(batches)
        return batches

    def _by_length(self, rows):
        return rows[np.argsort(self.lengths[rows], kind="stable")]

    def _cut(self, rows):
        return [rows[at : at + self.batch_size] for at in range(0, len(rows), self.batch_size)]
