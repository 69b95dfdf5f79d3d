"""A run that is killed at the worst moment, and goes on as if nothing had happened."""

import signal

import numpy as np
import pytest
from tiny_pretraining import SIZES, finish, start, write_corpus

import keras_elmo
from keras_elmo.language_model.files import load_language_model
from keras_elmo.pretraining.checkpoint import Checkpoints

pytestmark = pytest.mark.end_to_end
STEPS = 24
OPTIONS = [
    *("--batch-size", "4", "--threads", "1", "--dropout", "0.2", "--steps", str(STEPS)),
    *("--softmax", "sampled", "--samples", "4", "--resets", "random", "--checkpoint-every", "5"),
    *("--evaluate-every", "6", "--report-every", "2"),
]
SAME = {
    "batch_size": 4, "dropout": 0.2, "steps": STEPS, "softmax": "sampled", "samples": 4,
    "resets": "random", "checkpoint_every": 5, "evaluate_every": 6, "report_every": 2,
    **SIZES,
}  # fmt: skip
# Ends the process between two files of the model, after the checkpoint of step 10.
KILLED = """
import os, pathlib, signal, sys
replace = os.replace
def killing(source, target):
    done = os.path.exists("out/checkpoints/step-000000010.npz")
    if done and pathlib.Path(target) == pathlib.Path("out/weights.hdf5").absolute():
        os.kill(os.getpid(), signal.SIGKILL)
    replace(source, target)
os.replace = killing
from keras_elmo.cli.train import main
sys.exit(main(sys.argv[1:]))
"""


def test_killed_between_two_files_it_ends_with_the_same_weights(tmp_path, monkeypatch):
    write_corpus(tmp_path)
    monkeypatch.chdir(tmp_path)
    process = start(tmp_path, "out", *OPTIONS, program=("-c", KILLED))
    finish(process, -signal.SIGKILL)
    with pytest.raises(ValueError, match=r"must stand beside the weights.hdf5.*--resume"):
        load_language_model("out")
    assert Checkpoints("out/checkpoints").newest()[0].step == 10

    resumed = keras_elmo.pretrain("text.txt", "out", resume=True, **SAME)
    straight = keras_elmo.pretrain("text.txt", "straight", **SAME)
    steps = [[row["step"] for row in found.history] for found in (resumed, straight)]
    assert steps[0] == steps[1] == list(range(2, STEPS + 1, 2))
    one, two = (Checkpoints(f"{out}/checkpoints").newest()[0] for out in ("out", "straight"))
    assert one.step == two.step == STEPS
    for name, value in one.arrays.items():
        np.testing.assert_allclose(value, two.arrays[name], atol=1e-5, err_msg=name)
    assert (
        load_language_model("out").vocabulary.words
        == load_language_model("straight").vocabulary.words
    )
