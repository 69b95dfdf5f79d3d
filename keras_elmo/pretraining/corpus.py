"""Text files to sentences, word counts and training windows."""

import collections
import gzip
import itertools
import os
import random
import zlib
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from keras_elmo.text.tokenize import tokenize

LINES_AT_ONCE = 4096
BOUNDARY = b""


class Windows(NamedTuple):
    """One batch of training windows, in both directions.

    All are `(batch, window)` arrays of bytes; `b""` stands for a sentence boundary. A lane holds
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


def read_sentences(paths, tokenizer):
    """Yield the sentences of text files, one a line, as lists of tokens.

    Args:
        paths: sequence of paths, as in `read_lines`.
        tokenizer: `"space"` or `"words"`, the rule that splits a line.

    Yields:
        list of bytes, at least one token.
    """
    lines = read_lines(paths)
    while chunk := list(itertools.islice(lines, LINES_AT_ONCE)):
        for tokens in tokenize(tf.constant(chunk), tokenizer).to_list():
            if tokens:
                yield tokens


def count_words(sentences):
    """Count words, sentences and tokens.

    Args:
        sentences: iterable of lists of bytes.

    Returns:
        `(counts, n_sentences)`: Counter of str to int, and the number of sentences.
    """
    counts = collections.Counter()
    n_sentences = 0
    for tokens in sentences:
        counts.update(tokens)
        n_sentences += 1
    return collections.Counter({word.decode("utf-8"): n for word, n in counts.items()}), n_sentences


def shuffled_sentences(paths, tokenizer, seed, buffer_size=200_000):
    """Yield sentences for ever, shuffled anew in each epoch through a bounded buffer.

    Args:
        paths: sequence of paths; their order is shuffled.
        tokenizer: `"space"` or `"words"`.
        seed: int.
        buffer_size: int, sentences held in memory.

    Yields:
        list of bytes.
    """
    for epoch in itertools.count():
        rng = random.Random(f"{seed}/{epoch}")
        order = rng.sample(list(paths), len(paths))
        buffer = []
        for tokens in read_sentences(order, tokenizer):
            if len(buffer) < buffer_size:
                buffer.append(tokens)
                continue
            place = rng.randrange(buffer_size)
            yield buffer[place]
            buffer[place] = tokens
        rng.shuffle(buffer)
        yield from buffer


def windows(sentences, batch_size, window):
    """Lay sentences end to end in `batch_size` lanes and cut the lanes into windows.

    Args:
        sentences: iterable of lists of bytes.
        batch_size: int, lanes.
        window: int, positions a window.

    Yields:
        Windows; ends when a lane can no longer be filled.
    """
    sentences = iter(sentences)
    lanes = [Windows([], [], [], []) for _ in range(batch_size)]
    while all(_fill(lane, sentences, window) for lane in lanes):
        yield Windows(*(_cut(lanes, field, window) for field in Windows._fields))


def _fill(lane, sentences, window):
    while len(lane.forward_inputs) < window:
        tokens = next(sentences, None)
        if tokens is None:
            return False
        backward = tokens[::-1]
        lane.forward_inputs.extend([BOUNDARY, *tokens])
        lane.forward_targets.extend([*tokens, BOUNDARY])
        lane.backward_inputs.extend([BOUNDARY, *backward])
        lane.backward_targets.extend([*backward, BOUNDARY])
    return True


def _cut(lanes, field, window):
    batch = np.empty((len(lanes), window), dtype=object)
    for row, lane in zip(batch, lanes, strict=True):
        slots = getattr(lane, field)
        row[:] = slots[:window]
        del slots[:window]
    return batch
