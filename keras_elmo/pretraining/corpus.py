"""Text files to lines, sentences and word counts, in order or shuffled."""

import collections
import dataclasses
import gzip
import itertools
import os
import random
import zlib
from typing import NamedTuple

import tensorflow as tf

from keras_elmo.text.tokenize import tokenize

LINES_AT_ONCE = 4096
BYTES_AT_ONCE = 1 << 20
GZIP_MAGIC = b"\x1f\x8b"


def read_lines(paths):
    """Yield the lines of text files, plain or gzip, without line ends and blank lines.

    Args:
        paths: sequence of paths of UTF-8 files; names that end in `.gz` are gzip.

    Yields:
        bytes, one line.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is damaged or not UTF-8, named with its line.
    """
    for path in paths:
        yield from _lines_of(os.fspath(path))


def _lines_of(path):
    opener = gzip.open if path.endswith(".gz") else open
    number = 0
    try:
        with opener(path, "rb") as file:
            for number, raw in enumerate(file, start=1):
                line = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
                line = line.rstrip(b"\r\n")
                if number == 1 and line.startswith(GZIP_MAGIC):
                    raise ValueError(
                        f"{path} must be text, or gzip with a name that ends in .gz. Received: "
                        "gzip under another name. Rename it."
                    )
                line.decode("utf-8")
                if line.strip():
                    yield line
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}, line {number + 1 if number == 0 else number}: text must be UTF-8. "
            f"Received byte {error.object[error.start]:#04x} at column {error.start + 1}. "
            "Convert the file to UTF-8."
        ) from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(
            f"{path} must be a whole gzip file. Received: {error} (after line {number}). "
            "Copy or compress it again."
        ) from None


class CorpusCounts(NamedTuple):
    """What a corpus holds.

    Attributes:
        lines: int, lines that are not blank.
        sentences: int, lines that hold a token.
        tokens: int, words of all sentences.
        words: Counter of str, how often each word occurs.
    """

    lines: int
    sentences: int
    tokens: int
    words: collections.Counter

    @property
    def positions(self):
        """Predicted positions of one epoch and direction: the words and a boundary a sentence."""
        return self.tokens + self.sentences


def count_corpus(paths, tokenizer):
    """Read text files once and count.

    Args:
        paths: sequence of paths, as in `read_lines`.
        tokenizer: `"space"` or `"words"`, the rule that splits a line.

    Returns:
        CorpusCounts. Memory grows with the number of distinct words only.
    """
    words = collections.Counter()
    lines = sentences = 0
    for tokens in _token_lists(read_lines(paths), tokenizer):
        lines += 1
        sentences += bool(tokens)
        words.update(tokens)
    counts = collections.Counter({word.decode("utf-8"): n for word, n in words.items()})
    return CorpusCounts(lines, sentences, counts.total(), counts)


def read_sentences(paths, tokenizer):
    """Yield the sentences of text files, one a line, as lists of tokens.

    Args:
        paths: sequence of paths, as in `read_lines`.
        tokenizer: `"space"` or `"words"`, the rule that splits a line.

    Yields:
        list of bytes, at least one token.
    """
    return filter(None, _token_lists(read_lines(paths), tokenizer))


def _token_lists(lines, tokenizer):
    for chunk in chunks_of(lines):
        yield from split_lines(chunk, tokenizer)


def chunks_of(lines):
    """Yield lists of lines, 4,096 of them or 1 MiB, whichever is reached first."""
    chunk, size = [], 0
    for line in lines:
        chunk.append(line)
        size += len(line)
        if len(chunk) >= LINES_AT_ONCE or size >= BYTES_AT_ONCE:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def split_lines(lines, tokenizer):
    """Tokens of each line: list of bytes to list of lists of bytes, some may be empty."""
    return tokenize(tf.constant(lines, tf.string), tokenizer).to_list()


@dataclasses.dataclass(frozen=True)
class ShuffledLines:
    """The lines of text files for ever, in each epoch in another order, in bounded memory.

    The order of files is drawn anew, and lines pass through a buffer from which they are drawn.
    It is a function of files, seed and buffer size alone, so a run can go on at any line.

    Args:
        paths: sequence of paths, as in `read_lines`.
        n_lines: int, how many lines the files hold together (`CorpusCounts.lines`).
        seed: int.
        buffer_size: int, lines held in memory at most.
        buffer_bytes: int, their bytes at most.
    """

    paths: tuple
    n_lines: int
    seed: int
    buffer_size: int = 200_000
    buffer_bytes: int = 256 << 20

    def read(self, start=0):
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
