"""A tiny language to train on."""

import random

from keras_elmo.pretraining.corpus import ShuffledLines

PATTERNS = ("the cat sat on the mat", "the dog sat on the cat", "dog on mat", "cat sat")


def lines(seed, n):
    """`n` sentences, drawn from `PATTERNS`."""
    rng = random.Random(seed)
    return [rng.choice(PATTERNS) for _ in range(n)]


def held_out():
    return [line.encode().split(b" ") for line in lines(99, 40)]


def write_lines(path, rows):
    """Writes rows of bytes, one a line; gives back the path as str."""
    path.write_bytes(b"\n".join(rows) + b"\n")
    return str(path)


def shuffled_lines(folder, n=300):
    path = write_lines(folder / "text.txt", [line.encode() for line in lines(0, n)])
    return ShuffledLines((path,), n, seed=1)
