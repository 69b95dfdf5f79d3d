"""Sentences laid end to end in lanes, cut into training windows."""

import collections
from typing import NamedTuple

import numpy as np

from keras_elmo.pretraining.corpus import chunks_of, split_lines

BOUNDARY = b""


class Windows(NamedTuple):
    """One batch of training windows, in both directions.

    All are `(lanes, window)` arrays of bytes; `b""` stands for a sentence boundary. A lane holds
    whole sentences end to end, in the backward arrays each written from its last word to its
    first, and goes on in the same row of the next batch.

    Attributes:
        forward_inputs: begin of sentence and words.
        forward_targets: words and end of sentence.
        backward_inputs: end of sentence and words, last first.
        backward_targets: words, last first, and begin of sentence.
    """

    forward_inputs: np.ndarray
    forward_targets: np.ndarray
    backward_inputs: np.ndarray
    backward_targets: np.ndarray


class Position(NamedTuple):
    """Where lanes stand in their text.

    Attributes:
        lines: int64 `(lanes,)`, lines that each lane has begun.
        left: int64 `(lanes,)`, positions of the last of them that no window has held yet.
    """

    lines: np.ndarray
    left: np.ndarray

    @classmethod
    def start(cls, n_lanes):
        """The position of lanes that have begun nothing."""
        return cls(np.zeros(n_lanes, np.int64), np.zeros(n_lanes, np.int64))


class Lanes:
    """Windows of some of the lanes that a stream of lines is dealt to.

    Line k of the stream belongs to lane `k % n_lanes`, whoever reads it, so several machines that
    each read their own lanes see together what one machine sees that reads all.

    Args:
        stream: ShuffledLines, or another with its `read(start)`.
        tokenizer: `"space"` or `"words"`.
        window: int, positions a window.
        n_lanes: int, lanes of all machines together.
        own: range of the lanes to read here; None for all.
        position: Position of the own lanes to go on from, or None for the start.
    """

    def __init__(self, stream, tokenizer, window, n_lanes, own=None, position=None):
        self.tokenizer = tokenizer
        self.window = window
        self.n_lanes = n_lanes
        self.own = range(n_lanes) if own is None else own
        begun = Position.start(len(self.own)) if position is None else position
        self._lines = begun.lines - (begun.left > 0)  # a line that was cut is read once more
        self._cut = begun.left.copy()
        self._queues = [collections.deque() for _ in self.own]
        self._lanes = [Windows([], [], [], []) for _ in self.own]
        self._stream = stream
        self._owners = collections.deque()
        self._chunks = chunks_of(self._own_lines(self._lines.copy()))

    def __iter__(self):
        return self

    def __next__(self):
        """The next Windows of the own lanes."""
        for lane in range(len(self.own)):
            self._fill(lane)
        return Windows(*(self._take(field) for field in Windows._fields))

    @property
    def position(self):
        """The Position behind the last window."""
        laid = np.array([len(lane.forward_inputs) for lane in self._lanes], np.int64)
        return Position(self._lines + (self._cut > 0), laid + self._cut)

    def _fill(self, lane):
        slots = self._lanes[lane]
        while len(slots.forward_inputs) < self.window:
            while not self._queues[lane]:
                self._read_more()
            tokens = self._queues[lane].popleft()
            self._lines[lane] += 1
            if tokens:
                self._lay(slots, tokens, self._cut[lane])
            self._cut[lane] = 0

    def _lay(self, slots, tokens, left):
        """Adds a sentence to a lane, of a line that was cut only the positions that are left."""
        backward = tokens[::-1]
        first = len(tokens) + 1 - left if left else 0
        slots.forward_inputs.extend([BOUNDARY, *tokens][first:])
        slots.forward_targets.extend([*tokens, BOUNDARY][first:])
        slots.backward_inputs.extend([BOUNDARY, *backward][first:])
        slots.backward_targets.extend([*backward, BOUNDARY][first:])

    def _read_more(self):
        for tokens in split_lines(next(self._chunks), self.tokenizer):
            self._queues[self._owners.popleft()].append(tokens)

    def _own_lines(self, first_lines):
        """Yields the own lanes' lines from their first ones on; `_owners` gets the lane of each."""
        start = int(min(first_lines * self.n_lanes + np.array(self.own)))
        for number, line in enumerate(self._stream.read(start), start=start):
            turn, lane = divmod(number, self.n_lanes)
            if lane in self.own and turn >= first_lines[lane - self.own.start]:
                self._owners.append(lane - self.own.start)
                yield line

    def _take(self, field):
        batch = np.empty((len(self.own), self.window), dtype=object)
        for row, lane in zip(batch, self._lanes, strict=True):
            slots = getattr(lane, field)
            row[:] = slots[: self.window]
            del slots[: self.window]
        return batch
