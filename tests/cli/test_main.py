"""Both commands as a whole: help, what they answer without TensorFlow, the installed scripts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import keras_elmo
from keras_elmo import __version__
from keras_elmo.cli import main, train

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = [
    *((main, name) for name in main.SUBCOMMANDS),
    *((train, name) for name in train.SUBCOMMANDS),
]
# Asks for all that has to be answered at once, in the order of its arguments.
AT_ONCE = """
import contextlib, io, os, sys, keras_elmo_launcher
keras_elmo_launcher.parses = True
from keras_elmo.cli import main, train
for program in (main, train):
    helps = ([name, "--help"] for name in program.SUBCOMMANDS)
    for arguments in (["--help"], ["--version"], *helps):
        with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
            program.main(arguments)
print(sorted({"numpy", "pooch", "tqdm"} & set(sys.modules)))
for line in sys.stdin.read().splitlines():
    prog, *words = line.split()
    print({"keras_elmo": main, "keras_elmo-train": train}[prog].main(words), flush=True)
print(sorted({"tensorflow", "keras", "h5py", "pandas", "matplotlib"} & set(sys.modules)))
"""
FAULTS = """\
keras_elmo score english-small none.txt
keras_elmo evaluate nowhere
keras_elmo substitutes nowhere --text a --position 0
keras_elmo embed none.txt out.npz
keras_elmo embed here.txt out.txt
keras_elmo embed here.txt out.npz --model nowhere
keras_elmo senses nowhere here.txt --word a
keras_elmo senses english-small here.txt --word a --projector here.txt
keras_elmo export none.keras out
keras_elmo export nowhere out
keras_elmo export english-small .
keras_elmo convert nowhere out
keras_elmo download nowhere
keras_elmo presets nowhere
keras_elmo-train classifier none.csv
keras_elmo-train classifier --source nowhere
keras_elmo-train classifier --output here.txt
keras_elmo-train classifier --epochs 0
keras_elmo-train tagger none.tsv
keras_elmo-train bilm none.txt --output out
keras_elmo-train bilm here.txt --output out --held-out none.txt
keras_elmo-train bilm here.txt --output out --batch-size 0
keras_elmo-train bilm here.txt --output here.txt
keras_elmo-train bilm here.txt --output out --plots out
"""


def start(*command, **kwargs):
    env = {key: value for key, value in os.environ.items() if key != "TF_CPP_MIN_LOG_LEVEL"}
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), env.get("PYTHONPATH")]))
    return subprocess.run([*map(str, command)], capture_output=True, text=True, env=env, **kwargs)


@pytest.mark.parametrize(("program", "name"), COMMANDS, ids=lambda value: str(value)[-12:])
def test_help_shows_an_example_and_defaults_in_80_columns(capsys, monkeypatch, program, name):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit, match="^0$"):
        program.main([name, "--help"])
    printed = capsys.readouterr().out
    assert f"  {program.PROG} {name} " in printed
    assert "(default: None)" not in printed and "(default: False)" not in printed
    assert [line for line in printed.splitlines() if len(line) > 80] == []


def test_what_needs_no_tensorflow_is_answered_without_it(tmp_path):
    (tmp_path / "here.txt").write_text("a text\n")
    run = start(sys.executable, "-c", AT_ONCE, input=FAULTS, cwd=tmp_path)
    faults = FAULTS.splitlines()
    assert run.stdout.splitlines() == ["[]", *["2"] * len(faults), "[]"], run.stderr
    assert len(run.stderr.splitlines()) == len(faults)
    for line, fault in zip(run.stderr.splitlines(), faults, strict=True):
        assert line.startswith(" ".join(fault.split()[:2]) + ": error: ")
    assert os.listdir(tmp_path) == ["here.txt"]


def test_the_package_runs_as_a_module():
    run = start(sys.executable, "-X", "importtime", "-m", "keras_elmo", "--version")
    assert (run.returncode, run.stdout) == (0, f"keras_elmo {__version__}\n")
    assert "keras_elmo.cli.command" in run.stderr and "tensorflow" not in run.stderr


@pytest.mark.parametrize(
    ("argv", "orig_argv", "expected"),
    [
        (["-m", "x"], ["python", "-I", "-m", "keras_elmo", "x"], True),
        (["-m"], ["python", "-mkeras_elmo"], True),
        (["-m", "keras_elmo"], ["python", "-m", "mine", "keras_elmo"], False),
        (["keras_elmo", "x"], ["python", "keras_elmo", "x"], False),
        (["-m"], [], False),
    ],
)
def test_others_who_import_the_package_have_all_of_it(monkeypatch, argv, orig_argv, expected):
    monkeypatch.setattr(sys, "argv", argv)
    monkeypatch.setattr(sys, "orig_argv", orig_argv)
    assert keras_elmo._does_a_command_parse() == expected


@pytest.mark.end_to_end
def test_installed_script_reads_standard_input_without_noise(model_directory):
    script = Path(sys.executable).with_name("keras_elmo")
    if not script.exists():
        pytest.skip("keras_elmo is not installed: no script")
    run = start(script, "score", model_directory, "--no-header", input="the cat\n\nmat")
    assert run.stderr == ""
    assert run.returncode == 0
    rows = [line.split("\t") for line in run.stdout.splitlines()]
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert [row[4] for row in rows] == ["3", "1", "2"]


@pytest.mark.end_to_end
def test_installed_script_trains_and_exports_what_keras_loads(tiny_directory, tmp_path):
    script = Path(sys.executable).with_name("keras_elmo-train")
    if not script.exists():
        pytest.skip("keras_elmo is not installed: no script")
    run = start(script, "classifier", "--source", tiny_directory, "--output", tmp_path / "out")
    assert (run.returncode, run.stderr) == (0, "")
    assert "accuracy: " in run.stdout
    script = script.with_name("keras_elmo")
    run = start(script, "export", tmp_path / "out", tmp_path / "served")
    assert (run.returncode, run.stderr) == (0, "")
    assert "classifier" in run.stdout
