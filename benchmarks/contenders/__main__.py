"""python -m contenders NAME JOB RESULT: runs the module NAME on what JOB says, both JSON files."""

import importlib
import json
import os
import sys


def main(name, job, result):
    with open(job, encoding="utf-8") as file:
        job = json.load(file)
    _keep_to(job["cores"])  # before TensorFlow is imported, which counts them
    found = importlib.import_module(f"contenders.{name}").main(job)
    with open(result, "w", encoding="utf-8") as file:
        json.dump(found, file)


def _keep_to(cores):
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])


if __name__ == "__main__":
    main(*sys.argv[1:])
