"""Which line a sentence stands in."""

import json

MOST_BYTES = 16 << 20


class SentenceIndex:
    """The first line of each distinct sentence, as long as it is small.

    It must be whole in memory, of the writer and of every reader; so beyond 16 MiB of distinct
    sentences there is none.
    """

    def __init__(self):
        self._first = {}
        self._bytes = 0
        self._lines = 0

    def add(self, lines):
        """Adds the next lines, list of UTF-8 bytes."""
        for number, line in enumerate(lines, start=self._lines):
            if self._bytes <= MOST_BYTES and line not in self._first:
                self._first[line] = number
                self._bytes += len(line)
        self._lines += len(lines)
        if self._bytes > MOST_BYTES:
            self._first = {}

    def to_json(self):
        """JSON object of sentence to line number, from 0 and as a string, or None."""
        if self._bytes > MOST_BYTES:
            return None
        names = {line.decode("utf-8"): str(number) for line, number in self._first.items()}
        return json.dumps(names, ensure_ascii=False)
