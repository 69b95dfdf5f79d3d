import numpy as np
import pytest

from keras_elmo.cli.command import UserError
from keras_elmo.cli.labelled import Evaluation, split_rows, write_rows

LABELS = ["ham"] * 40 + ["spam"] * 10
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


def test_f1_of_a_class_that_does_not_occur_is_zero():
    evaluation = Evaluation(("a", "b", "c"), ["a"], np.array([[0.8, 0.1, 0.1]]))
    assert evaluation.f1("c") == 0.0


def test_mistakes_name_row_labels_and_probability(evaluation):
    rows = [(row, true, predicted) for row, true, predicted, _ in evaluation.mistakes()]
    assert rows == [(2, "ham", "spam"), (4, "spam", "ham")]
    assert [p for *_, p in evaluation.mistakes()] == pytest.approx([0.8, 0.7])


def test_confusion_table_for_people(evaluation):
    assert evaluation.confusion_lines() == [
        "true, predicted     ham    spam",
        "ham                   2       1",
        "spam                  1       1",
    ]


def test_rows_of_mistakes_stay_one_line_each(tmp_path):
    write_rows(tmp_path / "m.tsv", [("line", "text"), (7, "a\tb\r\nc\x0bd"), (0.25, "e")])
    assert (tmp_path / "m.tsv").read_text() == "line\ttext\n7\ta b c d\n0.2500\te\n"


@pytest.mark.parametrize(("n", "fraction", "n_train"), [(5572, 0.2, 4457), (10, 0.3, 7)])
def test_file_order_takes_the_first_rows_for_training(n, fraction, n_train):
    train, test = split_rows(["a"] * n, fraction)
    assert train + test == list(range(n)) and len(train) == n_train


@pytest.mark.parametrize("options", [{"shuffle": True}, {"stratify": True}])
def test_drawn_parts_are_a_split_and_follow_the_seed(options):
    train, test = split_rows(LABELS, 0.2, seed=1, **options)
    assert sorted([*train, *test]) == list(range(50))
    assert (len(train), len(test)) == (40, 10)
    assert train == sorted(train)
    again, _ = split_rows(LABELS, 0.2, seed=1, **options)
    other, _ = split_rows(LABELS, 0.2, seed=2, **options)
    assert train == again != other


def test_stratified_parts_have_the_same_share_of_every_class():
    _, test = split_rows(LABELS, 0.2, stratify=True)
    assert [LABELS[row] for row in test] == ["ham"] * 8 + ["spam"] * 2
    with pytest.raises(UserError, match="^--stratify: .*only 1 member"):
        split_rows([*LABELS, "eggs"], 0.2, stratify=True)
