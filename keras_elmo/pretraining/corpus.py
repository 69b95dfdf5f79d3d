"""Text files to lines, sentences and word counts, in order or shuffled."""

import collections
import dataclasses
import itertools
import os
import random
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import tensorflow as tf

from keras_elmo.basics.by_length import neighbours
from keras_elmo.basics.text_files import lines_of
from keras_elmo.text.tokenize import tokenize

LINES_AT_ONCE = 4096
BYTES_AT_ONCE = 1 << 20


def read_lines(paths: Iterable[str | os.PathLike]) -> Iterator[bytes]:
    """Yield the lines of UTF-8 text files, plain or gzip, that are not blank.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is damaged or not UTF-8, named with its line.
    """
    for path in paths:
        yield from (line for line in lines_of(path) if line.strip())


class CorpusCounts(NamedTuple):
    """What a corpus holds.

    Attributes:
        lines: lines that are not blank.
        sentences: lines that hold a token.
        tokens: words of all sentences.
        words: how often each word occurs.
    """

    lines: int
    sentences: int
    tokens: int
    words: collections.Counter[str]

    @property
    def positions(self) -> int:
        """Predicted positions of one epoch and direction: the words and a boundary a sentence."""
        return self.tokens + self.sentences


def count_corpus(paths: Iterable[str | os.PathLike], tokenizer: str) -> CorpusCounts:
    """Read text files once and count, in memory that grows with the distinct words only."""
    words: collections.Counter[bytes] = collections.Counter()
    lines = sentences = 0
    for tokens in _token_lists(read_lines(paths), tokenizer):
        lines += 1
        sentences += bool(tokens)
        words.update(tokens)
    counts = collections.Counter({word.decode("utf-8"): n for word, n in words.items()})
    return CorpusCounts(lines, sentences, counts.total(), counts)


def read_sentences(paths: Iterable[str | os.PathLike], tokenizer: str) -> Iterator[list[bytes]]:
    """Yield the sentences of text files, one a line, as lists of at least one token."""
    return filter(None, _token_lists(read_lines(paths), tokenizer))


def _token_lists(lines, tokenizer):
    for chunk in chunks_of(lines):
        yield from split_lines(chunk, tokenizer)


def chunks_of(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Yield lists of lines, of 4,096 of them or 1 MiB at most, or of one."""
    return neighbours(lines, len, BYTES_AT_ONCE, LINES_AT_ONCE)


def split_lines(lines: list[bytes], tokenizer: str) -> list[list[bytes]]:
    """Tokens of each line; there may be none."""
    return tokenize(tf.constant(lines, tf.string), tokenizer).to_list()


@dataclasses.dataclass(frozen=True)
class ShuffledLines:
    """The lines of text files for ever, in each epoch in another order, in bounded memory.

    The order of files is drawn anew, and lines pass through a buffer from which they are drawn.
    It is a function of files, seed and buffer size alone, so a run can go on at any line.

    Args:
        paths: as in `read_lines`.
        n_lines: how many lines the files hold together (`CorpusCounts.lines`).
        seed: what the order is a function of.
        buffer_size: lines held in memory at most.
        buffer_bytes: their bytes at most.
    """

    paths: tuple[str, ...]
    n_lines: int
    seed: int
    buffer_size: int = 200_000
    buffer_bytes: int = 256 << 20

    def read(self, start: int = 0) -> Iterator[bytes]:
        """Yield the lines from number `start` on, counted over all epochs.

        Raises:
            ValueError: the files hold another number of lines than `n_lines`.
        """
        first_epoch, skipped = divmod(start, self.n_lines)
        for epoch in itertools.count(first_epoch):
            n = 0
            for n, line in enumerate(self._epoch(epoch), start=1):
                if n > skipped:
                    yield line
            skipped = 0
            if n != self.n_lines:
                raise ValueError(
                    f"The text must stay as it was counted, {self.n_lines:,} lines. "
                    f"Received {n:,} lines. Start again with the text as it is now."
                )

    def _epoch(self, epoch):
        rng = random.Random(f"{self.seed}/{epoch}")
        buffer, held = [], 0
        for line in read_lines(rng.sample(self.paths, len(self.paths))):
            buffer.append(line)
            held += len(line)
            while len(buffer) > self.buffer_size or held > self.buffer_bytes:
                place = rng.randrange(len(buffer))
                buffer[place], buffer[-1] = buffer[-1], buffer[place]
                held -= len(buffer[-1])
                yield buffer.pop()
        rng.shuffle(buffer)
        yield from buffer
