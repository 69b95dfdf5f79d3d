"""Ending a run in order when the process is asked to."""

import contextlib
import signal
import threading

from keras_elmo.pretraining.run import ASKED

ASKED_BY = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def interruptible(run):
    """Lets Ctrl-C and SIGTERM set `run.stop` to `ASKED`; a second one ends the process at once.

    Args:
        run: an object with an attribute `stop`.

    Yields:
        list of the signals' numbers that came.
    """
    received = []

    def ask(number, frame):
        if received:
            raise KeyboardInterrupt
        received.append(number)
        run.stop = ASKED

    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    earlier = {number: signal.signal(number, ask) for number in ASKED_BY}
    try:
        yield received
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
