import numpy as np
import pytest

from keras_elmo.cli.split import split_rows

LABELS = ["ham"] * 40 + ["spam"] * 10


@pytest.mark.parametrize(
    ("n", "fraction", "n_train"), [(5572, 0.2, 4457), (10, 0.1, 9), (10, 0.3, 7), (2, 0.5, 1)]
)
def test_file_order_takes_the_first_rows_for_training(n, fraction, n_train):
    train, test = split_rows(["a"] * n, fraction)
    assert train.tolist() == list(range(n_train))
    assert test.tolist() == list(range(n_train, n))


@pytest.mark.parametrize("options", [{"shuffle": True}, {"stratify": True}])
def test_drawn_parts_are_a_split_and_follow_the_seed(options):
    train, test = split_rows(LABELS, 0.2, seed=1, **options)
    assert sorted([*train, *test]) == list(range(50))
    assert (len(train), len(test)) == (40, 10)
    assert (np.diff(train) > 0).all()
    again, _ = split_rows(LABELS, 0.2, seed=1, **options)
    other, _ = split_rows(LABELS, 0.2, seed=2, **options)
    assert train.tolist() == again.tolist() != other.tolist()


def test_stratified_parts_have_the_same_share_of_every_class():
    _, test = split_rows(LABELS, 0.2, stratify=True)
    assert [LABELS[row] for row in test] == ["ham"] * 8 + ["spam"] * 2
