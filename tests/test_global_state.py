"""Importing keras_elmo, and calling a built layer, change nothing for the rest of the process."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import hashlib, json, logging, os, pickle, random, warnings
import h5py, keras, numpy as np, pandas, sklearn, tensorflow as tf
from tensorflow.python.eager import context

def state():
    return {
        "dtype policy": keras.config.dtype_policy().name,
        "floatx": keras.config.floatx(),
        "image data format": keras.config.image_data_format(),
        "eager": tf.executing_eagerly(),
        "functions run eagerly": tf.config.functions_run_eagerly(),
        "optimizer jit": tf.config.optimizer.get_jit(),
        "threads": [tf.config.threading.get_inter_op_parallelism_threads(),
                    tf.config.threading.get_intra_op_parallelism_threads()],
        "root logging": [logging.root.level, [repr(h) for h in logging.root.handlers]],
        "tensorflow logging": [tf.get_logger().level, len(tf.get_logger().handlers)],
        "warning filters": repr(warnings.filters),
        "environment": dict(os.environ),
        "python random": digest(random.getstate()),
        "numpy random": digest(np.random.get_state(legacy=False)),
        "tensorflow seed": context.global_seed(),
    }

def digest(value):
    return hashlib.sha256(pickle.dumps(value)).hexdigest()

before = state()
import keras_elmo
after_import = state()

config = keras_elmo.BiLMConfig(lstm_dim=4, projection_dim=2, filters=((1, 2), (2, 2)))
layer = keras_elmo.ELMoEmbedding(keras_elmo.BiLM(config))
layer(tf.constant(["a first call builds"]))
built = state()
layer(tf.constant(["a second call", "only computes"]))
print(json.dumps([before, after_import, built, state()]))
"""


@pytest.fixture(scope="module")
def states():
    """States (before, after the import, after building a layer, after calling it once more)."""
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_import_changes_nothing(states):
    before, after_import, _, _ = states
    assert after_import == before


def test_building_changes_nothing_but_drawn_numbers(states):
    _, after_import, built, _ = states
    drawn = {"python random", "numpy random"}
    assert {key for key in built if built[key] != after_import[key]} <= drawn


def test_call_changes_nothing(states):
    _, _, built, called = states
    assert called == built
