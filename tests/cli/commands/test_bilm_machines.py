"""Several machines and devices: two processes on this machine, and two devices of one."""

import signal

import numpy as np
import pytest
from tiny_pretraining import finish, free_addresses, start, wait_for, write_corpus

from keras_elmo.pretraining.checkpoint import Checkpoints

pytestmark = pytest.mark.end_to_end
OPTIONS = [
    *("--steps", "60", "--checkpoint-every", "10", "--keep", "99", "--dropout", "0", "--resume"),
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


def start_long_pair(folder):
    cluster = free_addresses(2)
    options = [*OPTIONS, "--batch-size", "3", "--steps", "100000"]
    pair = [start(folder, "out", *options, cluster=cluster, index=n) for n in (0, 1)]
    wait_for(folder / "out" / "checkpoints" / "step-000000010.npz", pair[0])
    return pair


@pytest.mark.parametrize("asked", [0, 1])
def test_one_machine_that_is_asked_to_end_ends_all(tmp_path, asked):
    write_corpus(tmp_path)
    pair = start_long_pair(tmp_path)
    pair[asked].send_signal(signal.SIGINT)
    outputs = [finish(process, 130) for process in pair]
    assert "interrupted after step" in outputs[asked][1]
    if asked == 1:
        assert "another machine was interrupted; go on with --resume" in outputs[0][0]


def test_a_machine_that_is_gone_ends_the_others_with_a_line(tmp_path):
    write_corpus(tmp_path)
    pair = start_long_pair(tmp_path)
    pair[1].kill()
    pair[1].communicate()
    _, error = finish(pair[0], 1)
    # Behind the line Python may complain of TensorFlow's thread pool, as the process ends.
    before, line, _ = error.partition("keras_elmo-train bilm: error: another machine has gone")
    assert line and "Traceback" not in before


def test_machines_that_would_train_something_else_are_refused(tmp_path):
    write_corpus(tmp_path)
    cluster = free_addresses(2)
    for_each = [("--seed", "1"), ("--seed", "2")]
    pair = [
        start(tmp_path, "out", *OPTIONS, *options, cluster=cluster, index=n)
        for n, options in enumerate(for_each)
    ]
    for process in pair:
        _, error = finish(process, 2)
        assert "All machines must start with the same options" in error
    assert not (tmp_path / "out").exists()


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
