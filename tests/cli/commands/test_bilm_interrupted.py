"""Runs that are really killed, and what they leave."""

import json
import os
import signal

import numpy as np
import pytest
from tiny_pretraining import finish, start, wait_for, write_corpus

from keras_elmo.pretraining.checkpoint import Checkpoints

pytestmark = pytest.mark.end_to_end
OPTIONS = [
    *("--batch-size", "4", "--threads", "1", "--dropout", "0.2", "--keep", "99"),
    *("--softmax", "sampled", "--samples", "4", "--resets", "random", "--checkpoint-every", "25"),
    *("--evaluate-every", "100", "--report-every", "20", "--held-out", "held-out.txt"),
]
LENGTH = ("--steps", "600")


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("uninterrupted")
    write_corpus(folder)
    finish(start(folder, "out", *OPTIONS, *LENGTH))
    return folder


def newest(folder, output="out"):
    return Checkpoints(folder / output / "checkpoints").newest()[0]


def assert_same_end(folder, other):
    one, two = newest(folder), newest(other)
    assert one.step == two.step == 600
    for name, value in one.arrays.items():
        np.testing.assert_allclose(value, two.arrays[name], atol=1e-6, err_msg=name)
    for name in ("options.json", "vocab.txt", "weights.hdf5", "softmax.hdf5"):
        assert (folder / "out" / name).read_bytes() == (other / "out" / name).read_bytes()


def log_steps(folder):
    lines = (folder / "out" / "training.csv").read_text().splitlines()[1:]
    return [int(line.split(",")[0]) for line in lines]


def test_killed_and_resumed_it_ends_with_the_same_weights(uninterrupted, tmp_path):
    write_corpus(tmp_path)
    for step in (25, 175):
        process = start(tmp_path, "out", *OPTIONS, *LENGTH, "--resume")
        wait_for(tmp_path / "out" / "checkpoints" / f"step-{step:09d}.npz", process)
        process.kill()
        process.communicate()
        # A kill between two files leaves this; and other files of the user's are no obstacle.
        (tmp_path / "out" / ".writing-abc").mkdir()
        (tmp_path / "out" / "notes.txt").write_text("mine")
    # The newest checkpoint is cut, as by a disk that lost its last blocks.
    paths = Checkpoints(tmp_path / "out" / "checkpoints").paths()
    os.truncate(paths[-1], 5000)
    out, error = finish(start(tmp_path, "out", *OPTIONS, *LENGTH, "--resume"))
    assert f"{paths[-1].name} is damaged" in error
    assert f"going on after step {int(paths[-2].stem[5:])}" in out
    assert_same_end(tmp_path, uninterrupted)
    assert log_steps(tmp_path) == log_steps(uninterrupted) == list(range(20, 601, 20))


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_asked_to_end_it_saves_and_goes_on_later(uninterrupted, tmp_path, number, status):
    write_corpus(tmp_path)
    process = start(tmp_path, "out", *OPTIONS, *LENGTH)
    wait_for(tmp_path / "out" / "checkpoints" / "step-000000025.npz", process)
    process.send_signal(number)
    _, error = finish(process, status)
    step = newest(tmp_path).step
    assert step < 600
    assert f"interrupted after step {step} of 600; saved in out, go on with --resume" in error
    assert sorted(os.listdir(tmp_path / "out")) == sorted(
        [*("checkpoints", "options.json", "softmax.hdf5"),
         *("training.csv", "vocab.txt", "weights.hdf5")]
        + ["last"] * (step > 100)
    )  # fmt: skip
    finish(start(tmp_path, "out", *OPTIONS, *LENGTH, "--resume"))
    assert_same_end(tmp_path, uninterrupted)


def test_changed_options_are_listed(uninterrupted):
    options = [*OPTIONS, "--steps", "700", "--resume", "--seed", "3", "--window", "6"]
    _, error = finish(start(uninterrupted, "out", *options), 2)
    for change in ("`steps` was 600, now 700", "`seed` was 1, now 3", "`window` was 5, now 6"):
        assert change in error
    assert newest(uninterrupted).step == 600


def test_changed_text_is_found(uninterrupted, tmp_path):
    write_corpus(tmp_path)
    options = [*OPTIONS, "--steps", "5"]
    finish(start(tmp_path, "out", *options))
    with open(tmp_path / "text.txt", "a") as file:
        file.write("\none more cat")
    _, error = finish(start(tmp_path, "out", *options, "--resume"), 2)
    assert "`text` was" in error and "`words to predict (sha256)` was" in error


def test_finished_run_has_nothing_to_resume(uninterrupted):
    out, _ = finish(start(uninterrupted, "out", *OPTIONS, *LENGTH, "--resume"))
    assert "out: all 600 steps are done already" in out
    assert json.dumps(newest(uninterrupted).notes["settings"]["lanes"]) == "4"
