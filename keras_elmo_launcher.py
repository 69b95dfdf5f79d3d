"""Starts the console commands: answers at once, TensorFlow's log noise left out.

This module stands outside the package because importing anything of the package imports all of it
and TensorFlow, which takes seconds and writes to stderr: by then it is too late to ask for less. A
command imports the package with `parses` set, reads and checks its arguments, and calls
`load_package` before it works. Set TF_CPP_MIN_LOG_LEVEL=0 to see TensorFlow's log.
"""

import contextlib
import ctypes
import importlib
import os
import sys
import tempfile
from collections.abc import Iterator

LOG_LEVEL = "TF_CPP_MIN_LOG_LEVEL"
SILENT = "3"
M_TOP_PAD = -2  # of malloc.h
KEPT_BYTES = 64 << 20
parses = False  # read by keras_elmo/__init__.py


def main() -> None:
    """Runs `keras_elmo`."""
    launch("keras_elmo.cli.main")


def train() -> None:
    """Runs `keras_elmo-train`."""
    launch("keras_elmo.cli.train")


def launch(module: str) -> None:
    """Exits with the status of a module's `main()`."""
    global parses
    parses = True
    keep_freed_memory()
    try:
        run = importlib.import_module(module).main
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(run())


def load_package() -> None:
    """Imports all of the package, with its classes known to Keras, where a command left it out."""
    global parses
    if not parses:
        return
    parses = False
    package = sys.modules["keras_elmo"]
    if os.environ.setdefault(LOG_LEVEL, SILENT) != SILENT:
        importlib.reload(package)
    else:
        with stderr_held_back():
            importlib.reload(package)


def keep_freed_memory() -> bool:
    """Asks the C library to keep 64 MiB a thread that was freed; whether it has taken it.

    glibc would give it back to the system after each operation and fetch it again, zeroed, page
    by page: a training step was 15 % slower for that. Other C libraries are left as they are, and
    so is one that MALLOC_TOP_PAD_ is set for.
    """
    if "MALLOC_TOP_PAD_" in os.environ:
        return False
    try:
        return bool(ctypes.CDLL(None).mallopt(M_TOP_PAD, KEPT_BYTES))
    except (AttributeError, OSError, TypeError):
        return False


@contextlib.contextmanager
def stderr_held_back() -> Iterator[None]:
    """Holds back what is written to file descriptor 2; shows it only if the block raises."""
    sys.stderr.flush()
    original = os.dup(2)
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
        except BaseException:
            held.seek(0)
            os.write(original, held.read())
            raise
        finally:
            sys.stderr.flush()
            os.dup2(original, 2)
            os.close(original)
