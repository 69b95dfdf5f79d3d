import pytest

from keras_elmo.tasks.tagger.spans import (
    SpanScores,
    are_span_labels,
    score_spans,
    score_spans_by_type,
    spans,
)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("", []),
        ("O O", []),
        ("B-A", [(0, 1, "A")]),
        ("B-A I-A O", [(0, 2, "A")]),
        ("O B-A I-A", [(1, 3, "A")]),
        ("B-A B-A", [(0, 1, "A"), (1, 2, "A")]),
        ("B-A I-B", [(0, 1, "A"), (1, 2, "B")]),
        ("B-A I-B I-B", [(0, 1, "A"), (1, 3, "B")]),
        ("I-A I-A O I-A", [(0, 2, "A"), (3, 4, "A")]),
        ("I-A B-A I-A", [(0, 1, "A"), (1, 3, "A")]),
        ("B-A O I-A", [(0, 1, "A"), (2, 3, "A")]),
        ("B-a-b I-a-b I-a", [(0, 2, "a-b"), (2, 3, "a")]),
    ],
)
def test_spans_by_hand(labels, expected):
    assert spans(labels.split()) == expected


@pytest.mark.parametrize("label", ["NOUN", "B", "B-", "S-A", "o", 1])
def test_label_of_another_form_raises(label):
    with pytest.raises(ValueError, match=f"Received: {label!r} at position 1. .* rewrite BIOES"):
        spans(["O", label])


def test_which_labels_are_of_spans():
    assert are_span_labels(["O", "B-A", "I-A"])
    assert are_span_labels(["I-A"])
    assert not are_span_labels(["O"])
    assert not are_span_labels([])
    assert not are_span_labels(["O", "B-A", "NOUN"])
    assert not are_span_labels([0, 1])


TRUE = [["B-A", "I-A", "O", "B-B"], [], ["B-A", "O"]]
PREDICTED = [["B-A", "I-A", "O", "B-A"], [], ["B-A", "I-A"]]


def test_scores_by_hand():
    scores = score_spans(TRUE, PREDICTED)
    assert scores == SpanScores(n_true=3, n_predicted=3, n_right=1)
    assert (scores.precision, scores.recall, scores.f1) == (1 / 3, 1 / 3, 1 / 3)
    assert score_spans(TRUE, TRUE).f1 == 1.0
    uneven = SpanScores(n_true=4, n_predicted=2, n_right=2)
    assert (uneven.precision, uneven.recall, uneven.f1) == (1.0, 0.5, 2 / 3)


def test_scores_of_each_type():
    assert score_spans_by_type(TRUE, PREDICTED) == {
        "A": SpanScores(2, 3, 1),
        "B": SpanScores(1, 0, 0),
    }


def test_same_span_in_another_sentence_is_not_the_same():
    assert score_spans([["B-A"], ["O"]], [["O"], ["B-A"]]).n_right == 0


def test_scores_without_spans_are_zero():
    scores = score_spans([["O"]], [["O"]])
    assert (scores.precision, scores.recall, scores.f1) == (0.0, 0.0, 0.0)


def test_other_lengths_raise():
    with pytest.raises(ValueError, match="`predicted` must have a label for each label in `true`"):
        score_spans([["O"], ["O"]], [["O"], ["O", "O"]])
