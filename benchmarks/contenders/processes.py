"""Starts the modules of this package, each in a new process."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import keras_elmo

BENCHMARKS = Path(__file__).resolve().parents[1]


@dataclasses.dataclass(frozen=True)
class Contender:
    """What is measured.

    Attributes:
        name: str, as printed.
        module: str, of this package.
        batch_size: int, sentences a call.
        python: str, the interpreter of its environment.
        precision: str, of the products.
        by_embedder: bool, for ours, whether a call is one of `Embedder`, which chooses by itself
            what to run together.
    """

    name: str
    module: str
    batch_size: int
    python: str = sys.executable
    precision: str = "float32"
    by_embedder: bool = False

    @property
    def is_ours(self):
        return self.module == "native"

    def run(self, scratch, job):
        """Measures the contender; `vectors(scratch)` is written, too."""
        own = {
            "batch_size": self.batch_size,
            "precision": self.precision,
            "by_embedder": self.by_embedder,
            "vectors": str(self.vectors(scratch)),
        }
        return run(self.module, scratch, {**job, **own}, self.python)

    def vectors(self, scratch):
        """Where the layers of the first sentences are written."""
        return scratch / f"{self.name}.npy"


def run(module, scratch, job, python=sys.executable):
    """Runs `main(job)` of a module of this package.

    Returns:
        dict, what `main` returned. Exits with the end of the log if the process fails.
    """
    places = {
        "directory": str(scratch / "bilm"),
        "hub": str(scratch / "hub"),
        "sentences": str(scratch / "sentences.json"),
    }
    write(scratch / "job.json", {**places, **job})
    result, log = scratch / "result.json", scratch / "log.txt"
    command = [python, "-m", "contenders", module, scratch / "job.json", result]
    with log.open("wb") as file:
        code = subprocess.run(
            command, env=_environment(module, python), stdout=file, stderr=file, check=False
        ).returncode
    if code:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        sys.exit("\n".join([*lines[-20:], f"{python} -m contenders {module} failed ({code})."]))
    return json.loads(result.read_text(encoding="utf-8"))


def write(path, content):
    """Writes JSON."""
    path.write_text(json.dumps(content), encoding="utf-8")


def _environment(module, python):
    places = [BENCHMARKS]
    if python == sys.executable:
        places.append(Path(keras_elmo.__file__).parents[1])
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, places)),
        "TF_USE_LEGACY_KERAS": "1" if module == "simple" else "0",
    }
