"""Ending a run in order when the process is asked to."""

import contextlib
import os
import signal
import threading

ASKED_BY = (signal.SIGINT, signal.SIGTERM)
GRACE = 2.0  # seconds


@contextlib.contextmanager
def interruptible(ask_to_end):
    """Lets Ctrl-C and SIGTERM ask for an end; a second one ends the process at once.

    Also where Python cannot act on it, since TensorFlow waits for another machine, say: then a
    thread ends the process. Yields the list of the signals' numbers that came.
    """
    received = []

    def hear(number, frame):
        if received:
            raise KeyboardInterrupt
        received.append(number)
        ask_to_end()

    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    with _watch():
        earlier = {number: signal.signal(number, hear) for number in ASKED_BY}
        try:
            yield received
        finally:
            for number, handler in earlier.items():
                signal.signal(number, handler)


@contextlib.contextmanager
def ended_by_interrupt():
    """Lets Ctrl-C end the process at once, whatever it waits for: there is nothing to save yet."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    earlier = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, earlier)


@contextlib.contextmanager
def _watch():
    """Ends the process some time after its second signal, if it is still there then."""
    heard, told = os.pipe()
    os.set_blocking(told, False)
    earlier = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    over = threading.Event()
    watch = threading.Thread(target=_end_after_two, args=(heard, over), daemon=True)
    watch.start()
    try:
        yield
    finally:
        over.set()
        signal.set_wakeup_fd(earlier)
        os.write(told, b"\0")  # wakes the thread
        watch.join()
        os.close(heard)
        os.close(told)


def _end_after_two(heard, over):
    signals = 0
    while not over.is_set():
        number = os.read(heard, 1)[0]
        signals += number in ASKED_BY
        if signals > 1 and not over.wait(GRACE):
            os._exit(128 + number)
