"""The order of sentences in a lane that costs the token encoder least."""

import functools


def filling_order(lengths, filled, window):
    """Order sentences so that windows cut few of them.

    A window's words are encoded once for both directions. Of a sentence that a window cuts the
    directions hold different ends, and other words: it is encoded up to twice. So each place goes
    to the sentence with the fewest encodings a position, of equal ones to the first.

    Args:
        lengths: list of int, positions of each sentence.
        filled: int, positions of the first window that are taken, less than `window`.
        window: int, positions a window.

    Returns:
        list of int, the indices of all sentences, in order.
    """
    left, order = list(range(len(lengths))), []
    while left:
        room = window - filled
        best = min(left, key=lambda k: (encodings(lengths[k], room, window) / lengths[k], k))
        left.remove(best)
        order.append(best)
        filled = (filled + lengths[best]) % window
    return order


@functools.lru_cache(1 << 16)
def encodings(length, room, window):
    """Positions of a sentence that are encoded, summed over the windows that hold parts of it.

    Args:
        length: int, positions of the sentence.
        room: int, positions that its first window has for it, at least 1.
        window: int, positions of the windows after that.

    Returns:
        int, `length` where one window holds it all, at most `2 * length`.
    """
    total, begin = 0, 0
    while begin < length:
        end = min(length, begin + room)
        # Forward holds positions begin to end, backward the mirrored ones.
        both = min(end, length - begin) - max(begin, length - end)
        total += 2 * (end - begin) - max(0, both)
        begin, room = end, window
    return total
