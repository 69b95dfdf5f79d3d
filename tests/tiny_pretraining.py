"""Runs `keras_elmo-train bilm` on a tiny corpus, in processes of their own."""

import json
import os
import socket
import subprocess
import sys
import time

from tiny_text import lines

SMALL = [
    *("--lstm-dim", "12", "--projection-dim", "8", "--char-dim", "4", "--filters", "1:4,3:8"),
    *("--window", "5", "--learning-rate", "0.02", "--tokenizer", "space"),
]
SIZES = {  # the same for a call of `keras_elmo.pretrain`
    "lstm_dim": 12, "projection_dim": 8, "char_dim": 4, "filters": ((1, 4), (3, 8)),
    "window": 5, "learning_rate": 0.02, "tokenizer": "space",
}  # fmt: skip

PROGRAM = ("-c", "from keras_elmo_launcher import train; train()")


def write_corpus(folder):
    (folder / "text.txt").write_text("\n".join(lines(0, 200)))
    (folder / "held-out.txt").write_text("\n".join(lines(1, 20)))


def start(folder, output, *options, cluster=None, index=0, program=PROGRAM):
    """Starts the command; `cluster` is a list of addresses of workers."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment.pop("TF_CONFIG", None)
    if cluster:
        environment["TF_CONFIG"] = json.dumps(
            {"cluster": {"worker": cluster}, "task": {"type": "worker", "index": index}}
        )
    command = [
        *(sys.executable, *program, "bilm", "text.txt", "--output", output),
        *(*SMALL, *options),
    ]
    return subprocess.Popen(
        command, cwd=folder, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def finish(process, status=0):
    """Waits for the end and gives back what was printed."""
    out, error = process.communicate(timeout=300)
    assert process.returncode == status, error[-3000:]
    return out, error


def wait_for(path, process):
    """Waits until a file is there."""
    until = time.monotonic() + 300
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)


def free_addresses(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(("localhost", 0))
    addresses = [f"localhost:{s.getsockname()[1]}" for s in sockets]
    for s in sockets:
        s.close()
    return addresses
