"""Measures one contender in its process. Needs NumPy alone, so that any environment can run it."""

import json
import resource
import sys
import time

import numpy as np


def measure(job, load):
    """Loads a model, runs all sentences once to warm up, then runs and times them again.

    Args:
        job: dict with `sentences`, a JSON file of token lists; `batch_size`, sentences a call;
            `passes`, how often all sentences are timed; `vectors`, where to write the layers of
            the first sentences, `compared` of them.
        load: function of `job` that returns `(embed, layers)`: `embed(sentences)` runs the model,
            and `layers` makes of its result float32 `(batch, L + 1, time, dim)`.

    Returns:
        dict of seconds and of the peak memory in MB.
    """
    with open(job["sentences"], encoding="utf-8") as file:
        sentences = json.load(file)
    size = job["batch_size"]
    batches = [sentences[start : start + size] for start in range(0, len(sentences), size)]
    (embed, layers), load_seconds = timed(lambda: load(job))
    first_seconds = timed(lambda: embed(batches[0]))[1]  # holds no result in memory
    for batch in batches[1:]:
        embed(batch)
    found = {
        "load_seconds": load_seconds,
        "first_seconds": first_seconds,
        "pass_seconds": min(_time_pass(embed, batches) for _ in range(job["passes"])),
        "peak_mb": peak_memory() / 1e6,
    }
    # Last, for what is compared takes memory that is not the contender's.
    np.save(job["vectors"], _tokens(layers(embed(batches[0])), batches[0][: job["compared"]]))
    return found


def timed(function):
    """The function's result, and the seconds that it took."""
    begin = time.perf_counter()
    result = function()
    return result, time.perf_counter() - begin


def peak_memory():
    """Bytes of this process alone that were in memory at most.

    `ru_maxrss` is asked only where there is no /proc: on Linux it begins with the size of the
    process that started this one.
    """
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            (peak,) = [line for line in file if line.startswith("VmHWM:")]
        return int(peak.split()[1]) * 1024
    except (OSError, ValueError):
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _time_pass(embed, batches):
    begin = time.perf_counter()
    for batch in batches:
        embed(batch)
    return time.perf_counter() - begin


def _tokens(layers, sentences):
    """The vectors of all tokens, `(L + 1, tokens, dim)`, without padding."""
    rows = [layers[row][:, : len(tokens)] for row, tokens in enumerate(sentences)]
    return np.concatenate(rows, axis=1)
