"""Several machines and devices: two processes on this machine, and two devices of one."""

import numpy as np
import pytest
from tiny_pretraining import finish, free_addresses, start, wait_for, write_corpus

from keras_elmo.pretraining.checkpoint import Checkpoints

pytestmark = pytest.mark.slow
OPTIONS = [
    *("--steps", "60", "--checkpoint-every", "10", "--dropout", "0", "--resume"),
    *("--held-out", "held-out.txt", "--evaluate-every", "30", "--report-every", "30"),
]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """A run on one device with the batch of both."""
    folder = tmp_path_factory.mktemp("alone")
    write_corpus(folder)
    finish(start(folder, "out", *OPTIONS, "--batch-size", "6"))
    return folder


def newest(folder):
    return Checkpoints(folder / "out" / "checkpoints").newest()[0]


def assert_same_end(one, two):
    one, two = newest(one).arrays, newest(two).arrays
    assert one.keys() == two.keys()
    assert int(one["step"]) == 60
    for name, value in one.items():
        np.testing.assert_allclose(value, two[name], atol=1e-5, err_msg=name)


def start_pair(folder):
    cluster = free_addresses(2)
    options = [*OPTIONS, "--batch-size", "3"]
    return [start(folder, "out", *options, cluster=cluster, index=n) for n in (0, 1)]


def test_two_workers_equal_one_of_twice_the_batch_also_after_a_kill(alone, tmp_path):
    write_corpus(tmp_path)
    pair = start_pair(tmp_path)
    wait_for(tmp_path / "out" / "checkpoints" / "step-000000020.npz", pair[0])
    for process in pair:
        process.kill()
        process.communicate()
    assert newest(tmp_path).step < 60

    first, second = (finish(process)[0] for process in start_pair(tmp_path))
    assert "going on after step" in first and "written to out" in first
    assert "on 2 devices" in first and second == ""
    assert_same_end(alone, tmp_path)
    logs = [(folder / "out" / "training.csv").read_text() for folder in (alone, tmp_path)]
    one, two = ([row.split(",")[0] for row in log.splitlines()] for log in logs)
    assert one == two == ["step", "30", "60"]

    # What two machines began one can go on with.
    out, _ = finish(start(tmp_path, "out", *OPTIONS, "--batch-size", "6"))
    assert "all 60 steps are done already" in out


MIRRORED = """
import sys
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from keras_elmo.cli import pretraining
from keras_elmo.cli.train import main
pretraining.make_strategy = lambda name: tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
sys.exit(main(sys.argv[1:]))
"""


def test_two_devices_of_one_machine_equal_one_of_twice_the_batch(alone, tmp_path):
    write_corpus(tmp_path)
    process = start(tmp_path, "out", *OPTIONS, "--batch-size", "3", program=("-c", MIRRORED))
    out, _ = finish(process)
    assert "on 2 devices" in out
    assert_same_end(alone, tmp_path)
