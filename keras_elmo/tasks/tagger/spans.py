"""Spans, such as named entities, in labels of the forms B-type, I-type and O."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

OUTSIDE = "O"
_IN_SPAN = re.compile(r"[BI]-.+", re.DOTALL)


@dataclass(frozen=True)
class SpanScores:
    """How many spans there are, how many were predicted, and how many of these are right.

    A span is right if its first token, its last token and its type are.
    """

    n_true: int
    n_predicted: int
    n_right: int

    @property
    def precision(self) -> float:
        """The share of right spans among the predicted ones; 0 where none is predicted."""
        return self.n_right / self.n_predicted if self.n_predicted else 0.0

    @property
    def recall(self) -> float:
        """The share of the true spans that was found; 0 where there is none."""
        return self.n_right / self.n_true if self.n_true else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 where there is no span at all."""
        total = self.n_true + self.n_predicted
        return 2 * self.n_right / total if total else 0.0


def are_span_labels(labels: Iterable[str]) -> bool:
    """Whether all labels are `O`, `B-type` or `I-type`, and not all are `O`."""
    labels = set(labels)
    return bool(labels - {OUTSIDE}) and not any(_is_strange(label) for label in labels)


def spans(labels: Sequence[str]) -> list[tuple[int, int, str]]:
    """The spans of one sentence: first token, token after the last, type.

    A span begins at B-type and goes on with I of the same type. An I that does not go on with a
    span of its type begins one, as in CoNLL's scorer: all its tokens are I in files of the form
    IOB1, where B only separates neighbours.

    Raises:
        ValueError: a label of another form.

    Example:

    >>> spans(["B-PER", "I-PER", "O", "I-LOC", "B-LOC"])
    [(0, 2, 'PER'), (3, 4, 'LOC'), (4, 5, 'LOC')]
    """
    found: list[tuple[int, int, str]] = []
    start, kind = None, ""
    for at, label in enumerate([*labels, OUTSIDE]):
        if _is_strange(label):
            raise ValueError(
                f"`labels` must be 'O', 'B-type' or 'I-type'. Received: {label!r} at position "
                f"{at}. Spans have no meaning for other labels; rewrite BIOES as BIO first."
            )
        goes_on = start is not None and label == f"I-{kind}"
        if start is not None and not goes_on:
            found.append((start, at, kind))
            start = None
        if label != OUTSIDE and not goes_on:
            start, kind = at, label[2:]
    return found


def score_spans(true: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> SpanScores:
    """Precision, recall and F1 of predicted spans over all sentences and types.

    Args:
        true: labels of each sentence.
        predicted: as many.

    Raises:
        ValueError: a label that is not O, B-type or I-type; lists of other lengths.

    Example:

    >>> score_spans([["B-PER", "I-PER", "O", "B-LOC"]], [["B-PER", "O", "O", "B-LOC"]]).f1
    0.5
    """
    return _score(*_all_spans(true, predicted))


def score_spans_by_type(
    true: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]
) -> dict[str, SpanScores]:
    """The same for each type, sorted."""
    right, found = _all_spans(true, predicted)
    kinds = sorted({kind for *_, kind in right | found})

    def of(kind, spans):
        return {span for span in spans if span[-1] == kind}

    return {kind: _score(of(kind, right), of(kind, found)) for kind in kinds}


def _score(true, predicted):
    return SpanScores(len(true), len(predicted), len(true & predicted))


def _all_spans(true, predicted):
    """Two sets of (row, first token, token after the last, type)."""
    true, predicted = [list(row) for row in true], [list(row) for row in predicted]
    if list(map(len, true)) != list(map(len, predicted)):
        raise ValueError(
            "`predicted` must have a label for each label in `true`. Received: rows of other "
            f"lengths ({len(true)} and {len(predicted)} rows). Predict for the same sentences."
        )
    return tuple(
        {(row, *span) for row, labels in enumerate(rows) for span in spans(labels)}
        for rows in (true, predicted)
    )


def _is_strange(label):
    if not isinstance(label, str):
        return True
    return label != OUTSIDE and _IN_SPAN.fullmatch(label) is None
