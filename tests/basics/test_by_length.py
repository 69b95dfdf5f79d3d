import itertools

from hypothesis import given
from hypothesis import strategies as st

from keras_elmo.basics.by_length import batches_by_length, neighbours


def test_rows_of_like_length_are_together_by_hand():
    batches = batches_by_length([3, 0, 1, 7, 2], 2)
    assert [rows.tolist() for rows in batches] == [[3, 0], [4, 2], [1]]


@given(st.lists(st.integers(0, 50)), st.integers(1, 100))
def test_batches_hold_each_row_once_within_the_bound(lengths, most):
    batches = [
        b.tolist() for b in batches_by_length(lengths, lambda longest: most // (1 + longest))
    ]
    assert sorted(sum(batches, [])) == list(range(len(lengths)))
    for rows in batches:
        longest = max(lengths[row] for row in rows)
        assert len(rows) == 1 or len(rows) * (longest + 1) <= most


def test_neighbours_are_bounded_by_rows_and_by_size_and_read_as_they_come():
    assert list(neighbours([2, 3, 4, 9, 1, 1, 1], int, 5, most_rows=2)) == [
        [2, 3], [4], [9], [1, 1], [1]
    ]  # fmt: skip
    assert list(neighbours([], int, 5)) == []
    assert next(neighbours(itertools.count(1), int, 6)) == [1, 2, 3]
