"""Which rows run together: those of like length, or neighbours, within bounds."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np

Row = TypeVar("Row")


def batches_by_length(
    lengths: np.ndarray, most_rows: int | Callable[[int], int]
) -> Iterator[np.ndarray]:
    """Yields row numbers, int64, so that rows of like length are together, the longest first.

    What does not fit into memory so fails at once, and not at the end. `most_rows` of a batch may
    be a function of the length of its longest row; a batch has one at least.
    """
    lengths = np.asarray(lengths, np.int64)
    order = np.argsort(-lengths, kind="stable")
    while len(order):
        most = most_rows(int(lengths[order[0]])) if callable(most_rows) else most_rows
        yield order[: max(1, most)]
        order = order[max(1, most) :]


def neighbours(
    rows: Iterable[Row],
    size_of: Callable[[Row], int],
    most_size: float,
    most_rows: float = float("inf"),
) -> Iterator[list[Row]]:
    """Cuts a stream into lists of bounded size, in order; at most one list is held.

    A row that is larger than `most_size` is a list by itself.
    """
    held: list[Row] = []
    total = 0
    for row in rows:
        size = size_of(row)
        if held and (total + size > most_size or len(held) >= most_rows):
            yield held
            held, total = [], 0
        held.append(row)
        total += size
    if held:
        yield held
