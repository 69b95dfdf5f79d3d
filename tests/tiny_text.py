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


def shuffled_lines(folder, n=300):
    path = folder / "text.txt"
    path.write_text("\n".join(lines(0, n)))
    return ShuffledLines((str(path),), n, seed=1)
