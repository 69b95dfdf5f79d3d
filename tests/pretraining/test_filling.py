import random

import pytest

from keras_elmo.pretraining.filling import encodings, filling_order


@pytest.mark.parametrize(
    "length, room, expected",
    [
        (5, 5, 5),
        (3, 5, 3),
        # The first window holds 0-4 and 9-5, the second all that is left of both: all twice.
        (10, 5, 20),
        # 0-3 and 5-2, of which 2 and 3 are the same words; then 4, 5 and 1, 0.
        (6, 4, 10),
        # 0 and 5; then 1-5 and 4-0.
        (6, 1, 8),
        # 0-4 and 10-6; 5-9 and 5-1, of which 5 is one; 10 and 0.
        (11, 5, 10 + 9 + 2),
    ],
)
def test_encodings_by_hand(length, room, expected):
    assert encodings(length, room, 5) == expected


def counted(length, room, window):
    total, begin = 0, 0
    while begin < length:
        end = min(length, begin + room)
        total += len({*range(begin, end), *(length - 1 - k for k in range(begin, end))})
        begin, room = end, window
    return total


def test_encodings_are_what_windows_hold():
    for length in range(1, 70):
        for room in range(1, 14):
            assert encodings(length, room, 13) == counted(length, room, 13)


def test_order_by_hand():
    assert filling_order([3, 2, 10, 4, 1], filled=0, window=5) == [0, 1, 3, 4, 2]
    assert filling_order([3, 2, 2], filled=3, window=5) == [1, 0, 2]
    assert filling_order([], filled=1, window=5) == []


def test_order_keeps_all_and_costs_less():
    rng = random.Random(1)
    lengths = [rng.randint(1, 60) for _ in range(64)]
    order = filling_order(lengths, 7, 20)
    assert sorted(order) == list(range(64))

    def cost(order):
        filled, total = 7, 0
        for k in order:
            total += encodings(lengths[k], 20 - filled, 20)
            filled = (filled + lengths[k]) % 20
        return total

    assert cost(order) < 0.9 * cost(range(64))
