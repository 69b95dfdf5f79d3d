"""`WordVectors`: words, and a vector for each."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Words and their vectors.

    Args:
        words: n different words, none of them empty; kept as a tuple.
        vectors: float array (n, dim); kept as float32.

    Raises:
        ValueError: no word, one that is empty or occurs twice, a matrix of another shape, or a
            value that is not finite.

    Example:

    >>> vectors = WordVectors(["to", "be"], [[1, 2, 3], [4, 5, 6]])
    >>> len(vectors), vectors.dim, "be" in vectors
    (2, 3, True)
    >>> vectors["be"]
    array([4., 5., 6.], dtype=float32)
    """

    words: Sequence[str]
    vectors: np.ndarray
    _rows: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self):
        words = tuple(self.words)
        vectors = np.asarray(self.vectors, np.float32)
        rows = {word: row for row, word in enumerate(words)}
        if not words or "" in rows or len(rows) < len(words):
            raise ValueError(
                "`words` must be different words, none of them empty, and at least one. Received: "
                f"{len(words)} words, {len(rows)} different ones. Drop what is there twice."
            )
        if vectors.ndim != 2 or len(vectors) != len(words) or vectors.shape[1] == 0:
            raise ValueError(
                f"`vectors` must have shape ({len(words)}, dim), a row for each word. "
                f"Received: shape {vectors.shape}."
            )
        if not np.isfinite(vectors).all():
            row = int(np.argwhere(~np.isfinite(vectors))[0, 0])
            raise ValueError(
                f"`vectors` must be finite. Received: {words[row]!r} with NaN or infinity. "
                "Leave the word out."
            )
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "vectors", vectors)
        object.__setattr__(self, "_rows", rows)

    @property
    def dim(self) -> int:
        """The size of a vector."""
        return self.vectors.shape[1]

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._rows

    def __getitem__(self, word: str) -> np.ndarray:
        """The vector of a word, float32 (dim,); KeyError for a word that has none."""
        return self.vectors[self._rows[word]]

    def __repr__(self):
        return f"WordVectors({len(self)} words, dim={self.dim})"
