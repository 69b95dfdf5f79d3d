"""Seconds from the start of a process to the import of the package, and to its first vector.

    python3 benchmarks/cold_start.py

starts new processes in turn, one kind after the other and round after round, and prints the median
of each kind and its ratio to the bare import of TensorFlow. Seconds count the process from its
start to its end, so that nothing is left out.
"""

import argparse
import os
import subprocess
import sys
import time

import pandas as pd

KINDS = {
    "import tensorflow": "import tensorflow",
    "import tensorflow, keras_elmo": "import tensorflow, keras_elmo",
    "first vector": "import keras_elmo; keras_elmo.ELMoEmbedding()(['free entry now'])",
}
BARE = "import tensorflow"


def seconds_of(code):
    """Runs code in a new process."""
    started = time.perf_counter()
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    subprocess.run(
        [sys.executable, "-c", code], check=True, env=environment, stderr=subprocess.DEVNULL
    )
    return time.perf_counter() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    args = parser.parse_args()
    for code in KINDS.values():
        seconds_of(code)  # reads the files into the system's cache
    found = {name: [] for name in KINDS}
    for _ in range(args.rounds):
        for name, code in KINDS.items():
            found[name].append(seconds_of(code))
    seconds = pd.DataFrame(found).median()
    table = {"seconds": seconds, "more": seconds - seconds[BARE], "ratio": seconds / seconds[BARE]}
    print(pd.DataFrame(table).round(2).to_string())


if __name__ == "__main__":
    main()
