"""The windows of a run, prefetched and dealt to the replicas of a strategy."""

import collections
from typing import Any

import tensorflow as tf

from keras_elmo.pretraining.corpus import ShuffledLines
from keras_elmo.pretraining.lanes import Lanes, Position, Windows

PREFETCHED_BATCHES = 8


class WindowPipeline:
    """An endless `tf.data` pipeline of windows that knows its position.

    Each machine reads the lanes of its own replicas only.

    Args:
        stream: what the lanes are dealt.
        tokenizer: `"space"` or `"words"`.
        strategy: whose replicas get the windows.
        batch_size: lanes of each replica.
        window: positions a window.
        position: that of all lanes of all machines to go on from; None for the start.
    """

    def __init__(
        self,
        stream: ShuffledLines,
        tokenizer: str,
        strategy: tf.distribute.Strategy,
        batch_size: int,
        window: int,
        position: Position | None = None,
    ):
        self.stream = stream
        self.tokenizer = tokenizer
        self.batch_size = batch_size
        self.window = window
        self.n_lanes = batch_size * strategy.num_replicas_in_sync
        self._start = position or Position.start(self.n_lanes)
        self._dataset = strategy.distribute_datasets_from_function(self._local_dataset)
        self._batches: Any = None
        self._read_ahead: collections.deque[Position] = collections.deque()
        self.position = Position(*(field[self.own.start : self.own.stop] for field in self._start))

    def __next__(self) -> Windows:
        """The next Windows, one for each replica; `position` then stands behind them."""
        if self._batches is None:
            self._batches = iter(self._dataset)
        windows = next(self._batches)
        self.position = self._read_ahead.popleft()
        return windows

    def _local_dataset(self, context):
        replicas = context.num_replicas_in_sync // context.num_input_pipelines
        first = context.input_pipeline_id * replicas * self.batch_size
        self.own = range(first, first + replicas * self.batch_size)
        spec = tf.TensorSpec((self.batch_size, self.window), tf.string)
        signature = Windows(*(spec for _ in Windows._fields))
        dataset = tf.data.Dataset.from_generator(self._local_windows, output_signature=signature)
        return dataset.prefetch(PREFETCHED_BATCHES * replicas)

    def _local_windows(self):
        """The windows of this machine's lanes, one element a replica and step."""
        lanes = Lanes(
            self.stream, self.tokenizer, self.window, self.n_lanes, self.own, self.position
        )
        for windows in lanes:
            self._read_ahead.append(lanes.position)
            for first in range(0, len(self.own), self.batch_size):
                yield Windows(*(field[first : first + self.batch_size] for field in windows))
