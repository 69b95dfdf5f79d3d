"""Several machines and devices: two processes on this machine, and two devices of one."""

import signal

import numpy as np
import pytest
from tiny_pretraining import SIZES, finish, free_addresses, start, wait_for, write_corpus

import keras_elmo
from keras_elmo.pretraining.checkpoint import Checkpoints

pytestmark = pytest.mark.end_to_end
STEPS = 60
OPTIONS = [
    *("--steps", str(STEPS), "--checkpoint-every", "4", "--batch-size", "3", "--dropout", "0"),
    *("--held-out", "held-out.txt", "--evaluate-every", "20", "--report-every", "20", "--resume"),
]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """A run on one device with the batch of both."""
    folder = tmp_path_factory.mktemp("alone")
    write_corpus(folder)
    keras_elmo.pretrain(
        folder / "text.txt", folder / "out", held_out=folder / "held-out.txt", batch_size=6,
        dropout=0.0, steps=STEPS, evaluate_every=20, report_every=20, **SIZES,
    )  # fmt: skip
    return folder


def newest(folder):
    return Checkpoints(folder / "out" / "checkpoints").newest()[0]


def assert_same_end(one, two):
    one, two = newest(one).arrays, newest(two).arrays
    assert one.keys() == two.keys()
    assert int(one["step"]) == STEPS
    for name, value in one.items():
        np.testing.assert_allclose(value, two[name], atol=1e-5, err_msg=name)


def start_pair(folder):
    cluster = free_addresses(2)
    return [start(folder, "out", *OPTIONS, cluster=cluster, index=n) for n in (0, 1)]


def test_two_workers_equal_one_of_twice_the_batch_also_after_an_interruption(alone, tmp_path):
    write_corpus(tmp_path)
    pair = start_pair(tmp_path)
    wait_for(tmp_path / "out" / "checkpoints" / "step-000000004.npz", pair[0])
    pair[1].send_signal(signal.SIGINT)
    (first, _), (_, error) = (finish(process, 130) for process in pair)
    assert "interrupted after step" in error
    assert "another machine was interrupted; go on with --resume" in first
    assert newest(tmp_path).step < STEPS

    first, second = (finish(process)[0] for process in start_pair(tmp_path))
    assert "going on after step" in first and "written to out" in first
    assert "on 2 devices" in first and second == ""
    assert_same_end(alone, tmp_path)
    logs = [(folder / "out" / "training.csv").read_text() for folder in (alone, tmp_path)]
    one, two = ({row.split(",")[0] for row in log.splitlines()} for log in logs)
    assert one == {"step", "20", "40", str(STEPS)} <= two


MIRRORED = """
import sys
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from keras_elmo.cli.train import main
from keras_elmo.pretraining import strategy
strategy.make_strategy = lambda name: tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
sys.exit(main(sys.argv[1:]))
"""


def test_two_devices_of_one_machine_equal_one_of_twice_the_batch(alone, tmp_path):
    write_corpus(tmp_path)
    out, _ = finish(start(tmp_path, "out", *OPTIONS, program=("-c", MIRRORED)))
    assert "on 2 devices" in out
    assert_same_end(alone, tmp_path)
