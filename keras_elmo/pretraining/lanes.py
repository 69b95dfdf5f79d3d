"""Sentences laid end to end in lanes, cut into training windows."""

import collections
import functools
from typing import NamedTuple

import numpy as np

from keras_elmo.pretraining.corpus import chunks_of, split_lines

BOUNDARY = b""
BLOCK_LINES = 64


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
        lines: int64 `(lanes,)`, lines before the block that a lane lays.
        filled: int64 `(lanes,)`, positions of a window that were taken before that block.
        laid: int64 `(lanes,)`, sentences of the block that windows hold, the last perhaps in part.
        left: int64 `(lanes,)`, positions of the last of them that no window has held yet.
    """

    lines: np.ndarray
    filled: np.ndarray
    laid: np.ndarray
    left: np.ndarray

    @classmethod
    def start(cls, n_lanes):
        """The position of lanes that have begun nothing."""
        return cls(*(np.zeros(n_lanes, np.int64) for _ in cls._fields))


class Lanes:
    """Windows of some of the lanes that a stream of lines is dealt to.

    Line k of the stream belongs to lane `k % n_lanes`, whoever reads it, so several machines that
    each read their own lanes see together what one machine sees that reads all. A lane takes its
    lines in blocks of at most `BLOCK_LINES` lines and about as many windows, and lays the
    sentences of a block in the `filling_order`. The lanes' first blocks are of different sizes, or
    all lanes would come at once to what the others left.

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
        self._stream = stream
        begun = Position.start(len(self.own)) if position is None else position
        self._lanes = [
            _Lane(window, -(-BLOCK_LINES * (number + 1) // n_lanes), *map(int, values))
            for number, *values in zip(self.own, *begun, strict=True)
        ]
        self._owners = collections.deque()
        self._chunks = chunks_of(self._own_lines(begun.lines.copy()))
        for lane in self._lanes:
            lane.go_on(self._read_more)

    def __iter__(self):
        return self

    def __next__(self):
        """The next Windows of the own lanes."""
        for lane in self._lanes:
            lane.fill(self._read_more)
        windows = [lane.take() for lane in self._lanes]
        return Windows(*(_rows(field, self.window) for field in zip(*windows, strict=True)))

    @property
    def position(self):
        """The Position behind the last window."""
        places = [lane.place for lane in self._lanes]
        return Position(*np.array(places, np.int64).T)

    def _read_more(self):
        for tokens in split_lines(next(self._chunks), self.tokenizer):
            self._lanes[self._owners.popleft()].queue.append(tokens)

    def _own_lines(self, first_lines):
        """Yields the own lanes' lines from their first ones on; `_owners` gets the lane of each."""
        start = int(min(first_lines * self.n_lanes + np.array(self.own)))
        for number, line in enumerate(self._stream.read(start), start=start):
            turn, lane = divmod(number, self.n_lanes)
            if lane in self.own and turn >= first_lines[lane - self.own.start]:
                self._owners.append(lane - self.own.start)
                yield line


class _Lane:
    """The slots of one lane, and the sentences that wait for them.

    Args:
        window: int, positions a window.
        first_lines: int, lines of the first block at most.
        lines, filled, laid, left: int, the lane's values of a Position.
    """

    def __init__(self, window, first_lines, lines, filled, laid, left):
        self.queue = collections.deque()  # Tokens of lines that no block has.
        self._window = window
        self._first_lines = first_lines
        self._lines = lines
        self._filled = filled
        self._laid = laid
        self._left = left
        self._block_lines = 0
        self._block = collections.deque()
        self._slots = Windows([], [], [], [])

    @property
    def place(self):
        """The lane's values of the Position behind the last window."""
        return self._lines, self._filled, self._laid, len(self._slots.forward_inputs)

    def go_on(self, read_more):
        """Read again what had begun before the position that the lane was made with."""
        if not self._laid:
            return
        self._read_block(read_more)
        for _ in range(self._laid - 1):
            self._block.popleft()
        self._lay(self._block.popleft())
        for field in self._slots:
            del field[: len(field) - self._left]

    def fill(self, read_more):
        """Lay sentences until a window is full."""
        while len(self._slots.forward_inputs) < self._window:
            if self._block:
                self._lay(self._block.popleft())
                self._laid += 1
            else:
                self._lines += self._block_lines
                self._filled, self._laid = len(self._slots.forward_inputs), 0
                self._read_block(read_more)

    def take(self):
        """Take a full window: a list of bytes for each field of Windows."""
        taken = [field[: self._window] for field in self._slots]
        for field in self._slots:
            del field[: self._window]
        return taken

    def _read_block(self, read_more):
        block, size, self._block_lines = [], 0, 0
        lines = BLOCK_LINES if self._lines else self._first_lines
        while self._block_lines < lines and size < BLOCK_LINES * self._window:
            while not self.queue:
                read_more()
            self._block_lines += 1
            if tokens := self.queue.popleft():
                block.append(tokens)
                size += len(tokens) + 1
        lengths = [len(tokens) + 1 for tokens in block]
        order = filling_order(lengths, self._filled, self._window)
        self._block = collections.deque(block[k] for k in order)

    def _lay(self, tokens):
        backward = tokens[::-1]
        self._slots.forward_inputs.extend([BOUNDARY, *tokens])
        self._slots.forward_targets.extend([*tokens, BOUNDARY])
        self._slots.backward_inputs.extend([BOUNDARY, *backward])
        self._slots.backward_targets.extend([*backward, BOUNDARY])


def _rows(rows, width):
    array = np.empty((len(rows), width), dtype=object)
    for row, values in zip(array, rows, strict=True):
        row[:] = values
    return array


def filling_order(lengths: list[int], filled: int, window: int) -> list[int]:
    """Order sentences so that windows cut few of them.

    A window's words are encoded once for both directions. Of a sentence that a window cuts the
    directions hold different ends, and other words: it is encoded up to twice. So each place goes
    to the sentence with the fewest encodings a position, of equal ones to the first.

    Args:
        lengths: positions of each sentence.
        filled: positions of the first window that are taken, less than `window`.
        window: positions a window.

    Returns:
        The indices of all sentences, in order.
    """
    left, order = list(range(len(lengths))), []
    while left:
        room = window - filled
        best = min(left, key=lambda k: (encodings(lengths[k], room, window) / lengths[k], k))
        left.remove(best)
        order.append(best)
        filled = (filled + lengths[best]) % window
    return order


@functools.lru_cache(1 << 16)
def encodings(length: int, room: int, window: int) -> int:
    """Positions of a sentence that are encoded, summed over the windows that hold parts of it.

    Args:
        length: positions of the sentence.
        room: positions that its first window has for it, at least 1.
        window: positions of the windows after that.

    Returns:
        `length` where one window holds it all, at most `2 * length`.
    """
    total, begin = 0, 0
    while begin < length:
        end = min(length, begin + room)
        # Forward holds positions begin to end, backward the mirrored ones.
        both = min(end, length - begin) - max(begin, length - end)
        total += 2 * (end - begin) - max(0, both)
        begin, room = end, window
    return total
