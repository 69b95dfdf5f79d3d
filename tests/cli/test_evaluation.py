import numpy as np
import pytest
from sklearn import metrics

from keras_elmo.cli.evaluation import Evaluation

TRUE = ["ham", "ham", "ham", "spam", "spam"]
SPAM = np.array([0.1, 0.2, 0.8, 0.9, 0.3])


@pytest.fixture
def evaluation():
    return Evaluation(("ham", "spam"), TRUE, np.stack([1 - SPAM, SPAM], axis=1))


def test_numbers_by_hand(evaluation):
    assert evaluation.predicted == ["ham", "ham", "spam", "spam", "ham"]
    assert evaluation.confusion.tolist() == [[2, 1], [1, 1]]
    assert evaluation.accuracy == 0.6
    assert evaluation.baseline == ("ham", 0.6)
    assert evaluation.f1("spam") == 0.5


def test_numbers_equal_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    classes = ("a", "b", "c")
    true = [str(label) for label in rng.choice(classes, 60)]
    evaluation = Evaluation(classes, true, rng.dirichlet([1, 1, 1], 60))
    predicted = evaluation.predicted
    np.testing.assert_array_equal(evaluation.confusion, metrics.confusion_matrix(true, predicted))
    assert evaluation.accuracy == metrics.accuracy_score(true, predicted)
    expected = metrics.f1_score(true, predicted, average=None, labels=classes)
    np.testing.assert_allclose([evaluation.f1(label) for label in classes], expected)


def test_f1_of_a_class_that_does_not_occur_is_zero():
    evaluation = Evaluation(("a", "b", "c"), ["a"], np.array([[0.8, 0.1, 0.1]]))
    assert evaluation.f1("c") == 0.0


def test_mistakes_name_row_labels_and_probability(evaluation):
    rows = [(row, true, predicted) for row, true, predicted, _ in evaluation.mistakes()]
    assert rows == [(2, "ham", "spam"), (4, "spam", "ham")]
    assert [p for *_, p in evaluation.mistakes()] == pytest.approx([0.8, 0.7])


def test_confusion_table_for_people(evaluation):
    assert evaluation.confusion_text().splitlines() == [
        "true, predicted     ham    spam",
        "ham                   2       1",
        "spam                  1       1",
    ]
