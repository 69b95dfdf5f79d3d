"""Several machines: two processes on this one."""

import numpy as np
import pytest
from tiny_pretraining import finish, free_addresses, start, wait_for, write_corpus

from keras_elmo.pretraining.checkpoint import Checkpoints

pytestmark = pytest.mark.slow
OPTIONS = [
    *("--steps", "60", "--checkpoint-every", "10", "--dropout", "0", "--resume"),
    *("--held-out", "held-out.txt", "--evaluate-every", "30", "--report-every", "30"),
]


def newest(folder, output):
    return Checkpoints(folder / output / "checkpoints").newest()[0]


def start_pair(folder, output):
    cluster = free_addresses(2)
    options = [*OPTIONS, "--batch-size", "3"]
    return [start(folder, output, *options, cluster=cluster, index=n) for n in (0, 1)]


def test_two_workers_equal_one_of_twice_the_batch_also_after_a_kill(tmp_path):
    write_corpus(tmp_path)
    finish(start(tmp_path, "one", *OPTIONS, "--batch-size", "6"))

    pair = start_pair(tmp_path, "two")
    wait_for(tmp_path / "two" / "checkpoints" / "step-000000020.npz", pair[0])
    for process in pair:
        process.kill()
        process.communicate()
    assert newest(tmp_path, "two").step < 60

    first, second = (finish(process)[0] for process in start_pair(tmp_path, "two"))
    assert "going on after step" in first and "written to two" in first
    assert "on 2 devices" in first and second == ""
    one, two = newest(tmp_path, "one"), newest(tmp_path, "two")
    assert one.arrays.keys() == two.arrays.keys()
    for name, value in one.arrays.items():
        np.testing.assert_allclose(value, two.arrays[name], atol=1e-5, err_msg=name)
    log = [(tmp_path / place / "training.csv").read_text().splitlines() for place in ("one", "two")]
    assert [row.split(",")[0] for row in log[0]] == [row.split(",")[0] for row in log[1]]

    # What two machines began one can go on with.
    out, _ = finish(start(tmp_path, "two", *OPTIONS, "--batch-size", "6"))
    assert "all 60 steps are done already" in out
