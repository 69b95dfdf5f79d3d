"""Processes that are asked to end."""

import signal
import subprocess
import sys

import pytest

# The main thread waits in C for a lock that nobody gives back, as TensorFlow may for a machine.
STUCK = """
import ctypes, sys
from keras_elmo.cli import signals

signals.GRACE = 0.05
lock, libc = ctypes.create_string_buffer(128), ctypes.CDLL(None)
libc.pthread_mutex_lock(lock)
with getattr(signals, sys.argv[1])(*[lambda: None][: int(sys.argv[2])]):
    print("stuck", flush=True)
    libc.pthread_mutex_lock(lock)
"""


def start(*arguments):
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout.readline() == b"stuck\n"
    return process


def test_a_second_signal_ends_a_process_that_waits_in_c():
    with start("interruptible", "1") as process:
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM


def test_ctrl_c_ends_a_process_that_has_nothing_to_save():
    with start("ended_by_interrupt", "0") as process:
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == -signal.SIGINT
