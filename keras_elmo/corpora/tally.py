"""Counts of lines that JSON can hold, with the numbers of the first ones."""

LINES_NAMED = 10
NOTHING = {"lines": 0, "first": []}


def add(tally, numbers):
    """A tally with more lines.

    Args:
        tally: dict of `lines`, their number, and `first`, list of the first ones' numbers from 1.
        numbers: NumPy integers `(n,)`, numbers of lines from 0, rising.
    """
    first = tally["first"] + (numbers[:LINES_NAMED] + 1).tolist()
    return {"lines": tally["lines"] + len(numbers), "first": first[:LINES_NAMED]}


def told(tally):
    """The lines in words, with their verb: "line 3 is", "2 lines (3, 7) are"."""
    named = ", ".join(map(str, tally["first"]))
    if tally["lines"] == 1:
        return f"line {named} is"
    more = ", ..." if tally["lines"] > len(tally["first"]) else ""
    return f"{tally['lines']:,} lines ({named}{more}) are"
