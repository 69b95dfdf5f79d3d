"""The `keras_elmo` command as a whole."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from keras_elmo import __version__
from keras_elmo.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(sys.executable).with_name("keras_elmo")
COMMANDS = ["evaluate", "score", "substitutes"]


def start(command, *arguments, **kwargs):
    env = {key: value for key, value in os.environ.items() if key != "TF_CPP_MIN_LOG_LEVEL"}
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), env.get("PYTHONPATH")]))
    return subprocess.run(
        [*map(str, command), *arguments], capture_output=True, text=True, env=env, **kwargs
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_shows_an_example_and_defaults(capsys, command):
    for arguments in (["--help"], [command, "--help"]):
        with pytest.raises(SystemExit, match="^0$"):
            main(arguments)
        printed = capsys.readouterr().out
        assert f"  keras_elmo {command} " in printed
        assert "(default: None)" not in printed and "(default: False)" not in printed


def test_version(capsys):
    with pytest.raises(SystemExit, match="^0$"):
        main(["--version"])
    assert capsys.readouterr().out == f"keras_elmo {__version__}\n"


MODEL_FAULTS = {
    "no such model": ("nope", "MODEL nope: .*'nope', and nothing is there"),
    "a model without softmax": ("tiny_directory", "predicts no words"),
    "a file": (__file__, "test_main.py', a file"),
}


@pytest.mark.parametrize("fault", MODEL_FAULTS)
@pytest.mark.parametrize("command", COMMANDS)
def test_bad_model_is_one_line_and_nothing_written(
    command, fault, tiny_directory, tmp_path, capsys
):
    model, message = MODEL_FAULTS[fault]
    model = str(tiny_directory) if model == "tiny_directory" else model
    (tmp_path / "text").write_text("a text\n")
    options = ["--text", "a text", "--position", "1"]
    options = options if command == "substitutes" else [str(tmp_path / "text")]
    assert main([command, model, *options, "--output", str(tmp_path / "out")]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert err.startswith(f"keras_elmo {command}: error: MODEL ")
    assert re.search(message, err)
    assert os.listdir(tmp_path) == ["text"]


@pytest.mark.skipif(not SCRIPT.exists(), reason="keras_elmo is not installed: no script")
def test_installed_script_reads_standard_input_without_noise(model_directory):
    run = start([SCRIPT], "score", model_directory, "--no-header", input="the cat\n\nmat")
    assert run.stderr == ""
    assert run.returncode == 0
    rows = [line.split("\t") for line in run.stdout.splitlines()]
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert [row[4] for row in rows] == ["3", "1", "2"]
