"""Starts the console commands with TensorFlow's log noise left out.

This module stands outside the package because importing anything of the package imports
TensorFlow, which writes to stderr while it is loaded: by then it is too late to ask for silence.
Set TF_CPP_MIN_LOG_LEVEL=0 to see TensorFlow's log.
"""

import contextlib
import ctypes
import importlib
import os
import sys
import tempfile

LOG_LEVEL = "TF_CPP_MIN_LOG_LEVEL"
SILENT = "3"
M_TOP_PAD = -2  # of malloc.h
KEPT_BYTES = 64 << 20


def main():
    """Runs `keras_elmo.cli.main.main`."""
    launch("keras_elmo", "keras_elmo.cli.main")


def train():
    """Runs `keras_elmo.cli.train.main`."""
    launch("keras_elmo-train", "keras_elmo.cli.train")


def launch(prog, module):
    """Exits with the status of a module's `main()`; `prog` names the command in messages."""
    keep_freed_memory()
    try:
        if os.environ.get(LOG_LEVEL, SILENT) != SILENT:
            run = importlib.import_module(module).main
        else:
            os.environ[LOG_LEVEL] = SILENT
            with stderr_held_back():
                run = importlib.import_module(module).main
    except KeyboardInterrupt:
        sys.stderr.write(f"{prog}: interrupted\n")
        sys.exit(130)
    sys.exit(run())


def keep_freed_memory():
    """Asks the C library to keep up to 64 MiB a thread that was freed, for the next tensors.

    glibc would give it back to the system after each operation and fetch it again, zeroed, page
    by page: a training step was 15 % slower for that. Other C libraries are left as they are, and
    so is one that MALLOC_TOP_PAD_ is set for.

    Returns:
        bool, whether the library has taken it.
    """
    if "MALLOC_TOP_PAD_" in os.environ:
        return False
    try:
        return bool(ctypes.CDLL(None).mallopt(M_TOP_PAD, KEPT_BYTES))
    except (AttributeError, OSError, TypeError):
        return False


@contextlib.contextmanager
def stderr_held_back():
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


if __name__ == "__main__":
    main()
