"""Tiny modules in the TF1-Hub format."""

import sys
from pathlib import Path

import tensorflow as tf

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

from contenders import hub_module  # noqa: E402


def write_module(bilm, directory, **options):
    """Writes a biLM as a module, as `hub_module.write` does; gives its directory as str."""
    try:
        hub_module.write(bilm, directory, **options)
    finally:
        tf.compat.v1.enable_control_flow_v2()
    return str(directory)
