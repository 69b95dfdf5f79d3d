import itertools
import random

import numpy as np
import pytest

from keras_elmo.pretraining.lanes import (
    BLOCK_LINES,
    Lanes,
    Position,
    encodings,
    filling_order,
)


class Lines:
    """A stream over a list, read for ever."""

    def __init__(self, lines):
        self.lines = lines

    def read(self, start=0):
        return itertools.islice(itertools.cycle(self.lines), start, None)


def random_lines(n=300):
    rng = random.Random(3)
    words = [f"w{k}" for k in range(40)]
    lines = [" ".join(rng.choices(words, k=rng.randint(0, 9))) or "\xa0" for _ in range(n)]
    return Lines([line.encode() for line in lines])


def take(lanes, n):
    return [[field.tolist() for field in windows] for windows in itertools.islice(lanes, n)]


def test_windows_by_hand():
    # Positions: 3, 2, 2, 4 and 10, again and again: a block is 64 lines of them.
    lines = Lines([b"a b", b"c", b"d", b"e f g", b"h h h h h h h h h"])
    first, second, third, fourth = itertools.islice(Lanes(lines, "space", 5, n_lanes=1), 4)
    assert first.forward_inputs.tolist() == [[b"", b"a", b"b", b"", b"c"]]
    assert first.forward_targets.tolist() == [[b"a", b"b", b"", b"c", b""]]
    assert first.backward_inputs.tolist() == [[b"", b"b", b"a", b"", b"c"]]
    assert first.backward_targets.tolist() == [[b"b", b"a", b"", b"c", b""]]
    assert second.forward_inputs.tolist() == [[b"", b"d", b"", b"a", b"b"]]
    # One place is left beside "e f g": a sentence of four is cut with the fewest words repeated.
    assert third.forward_inputs.tolist() == [[b"", b"e", b"f", b"g", b""]]
    assert fourth.forward_targets.tolist()[0][:3] == [b"f", b"g", b""]
    assert fourth.backward_targets.tolist()[0][:3] == [b"f", b"e", b""]


def sentences_of(stream):
    """The tokens of the whole sentences in a lane's targets."""
    sentences = [[]]
    for word in stream:
        if word:
            sentences[-1].append(word)
        else:
            sentences.append([])
    return sentences[:-1]


def test_lanes_go_on_in_the_next_batch_and_lose_nothing():
    lines = random_lines(1200)
    lanes = Lanes(lines, "words", window=6, n_lanes=4)
    streams = [[], [], [], []]
    while min(lanes.position.lines) < 200:
        for stream, row in zip(streams, next(lanes).forward_targets, strict=True):
            stream.extend(row)
    for lane, (stream, n_lines) in enumerate(zip(streams, lanes.position.lines, strict=True)):
        dealt = [line.split() for line in lines.lines[lane::4]][:n_lines]
        expected = [tokens for tokens in dealt if tokens != [b"\xc2\xa0"]]
        found = sentences_of(stream)[: len(expected)]
        assert sorted(found) == sorted(expected)
        assert found != expected


def test_a_block_of_long_lines_is_short():
    lines = Lines([b"a " * 4000, b"b"])
    lanes = Lanes(lines, "space", window=20, n_lanes=1)
    next(lanes)
    assert len(lanes._lanes[0]._block) + 1 < BLOCK_LINES


def test_windows_hold_fewer_distinct_words_than_as_lines_come():
    rng = random.Random(4)
    lengths = [rng.randint(1, 50) for _ in range(6000)]
    lines = [" ".join(f"{k}.{n}" for n in range(length)) for k, length in enumerate(lengths)]
    lanes = Lanes(Lines([line.encode() for line in lines]), "space", window=20, n_lanes=8)
    distinct = [
        len({*forward, *backward})
        for windows in itertools.islice(lanes, 300)
        for forward, backward in zip(windows[0], windows[2], strict=True)
    ]
    begins = np.cumsum([0, *(length + 1 for length in lengths)])[:2400]
    in_order = sum(
        encodings(length + 1, 20 - begin % 20, 20)
        for length, begin in zip(lengths, begins, strict=False)
    )
    assert sum(distinct) / (300 * 8 * 20) < 0.9 * in_order / begins[-1]


@pytest.mark.parametrize("done", [0, 1, 7, 40, 200])
@pytest.mark.parametrize("window", [3, 20])
def test_going_on_from_a_position_gives_what_would_have_come(done, window):
    lines = random_lines()
    lanes = Lanes(lines, "words", window, n_lanes=5)
    take(lanes, done)
    position = lanes.position
    again = Lanes(lines, "words", window, n_lanes=5, position=position)
    for before, after in zip(position, again.position, strict=True):
        np.testing.assert_array_equal(before, after)
    assert take(again, 30) == take(lanes, 30)
    for one, other in zip(again.position, lanes.position, strict=True):
        np.testing.assert_array_equal(one, other)


def test_machines_together_see_what_one_sees():
    lines = random_lines()
    whole = take(Lanes(lines, "words", 7, n_lanes=6), 25)
    first = Lanes(lines, "words", 7, n_lanes=6, own=range(0, 2))
    second = Lanes(lines, "words", 7, n_lanes=6, own=range(2, 6))
    for windows, one, other in zip(whole, take(first, 25), take(second, 25), strict=True):
        assert windows == [a + b for a, b in zip(one, other, strict=True)]
    # ... and each can go on by itself.
    later = Lanes(lines, "words", 7, 6, range(2, 6), second.position)
    assert take(later, 5) == take(second, 5)


def test_fewer_lines_than_lanes():
    lanes = Lanes(Lines([b"a", b"b c"]), "space", window=4, n_lanes=3)
    assert [row[:2] for row in next(lanes).forward_targets.tolist()[::2]] == [[b"a", b""]] * 2


def test_arrays_hold_bytes():
    windows = next(Lanes(Lines([b"\xff\x00 \xff\x00 c"]), "space", window=3, n_lanes=1))
    assert windows.forward_targets.dtype == object
    assert windows.forward_inputs.tolist() == [[b"", b"\xff\x00", b"\xff\x00"]]
    assert Position.start(2).lines.tolist() == [0, 0]


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
