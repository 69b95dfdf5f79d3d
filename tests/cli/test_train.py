import os
import subprocess
import sys
from pathlib import Path

import pytest

from keras_elmo import __version__
from keras_elmo.cli.train import main

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(sys.executable).with_name("keras_elmo-train")


@pytest.mark.parametrize("command", ["classifier", "bilm"])
def test_help_of_every_command_ends_with_0(capsys, command):
    for arguments in (["--help"], [command, "--help"]):
        with pytest.raises(SystemExit, match="^0$"):
            main(arguments)
        printed = capsys.readouterr().out
        assert command in printed
        assert "example" in printed


def test_help_of_classifier_tells_every_option_and_default(capsys):
    with pytest.raises(SystemExit):
        main(["classifier", "--help"])
    printed = " ".join(capsys.readouterr().out.split())
    for part in (
        *("--text-column NAME", "--label-column NAME", "--encoding", "--delimiter", "--no-header"),
        *("--test-fraction X", "(default: 0.2)", "--shuffle", "--stratify", "--source"),
        *("(default: english-small)", "--pooling", "--no-standardize", "--epochs", "(default: 1)"),
        *("--batch-size", "(default: 60)", "--seed", "--output DIR", "--overwrite"),
        *("--positive-label", "--quiet", "mistakes.tsv", "metrics.json", "spam.csv"),
    ):
        assert part in printed
    assert "(default: None)" not in printed
    assert "(default: False)" not in printed


def test_version(capsys):
    with pytest.raises(SystemExit, match="^0$"):
        main(["--version"])
    assert capsys.readouterr().out == f"keras_elmo-train {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [([], "required: COMMAND"), (["nope"], "invalid choice: 'nope'"), (["--nope"], "COMMAND")],
)
def test_bad_command_is_one_line(capsys, arguments, message):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("keras_elmo-train: error: ")
    assert message in err
    assert err.count("\n") == 1


def start(command, *arguments, **environment):
    env = {key: value for key, value in os.environ.items() if key != "TF_CPP_MIN_LOG_LEVEL"}
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), env.get("PYTHONPATH")]))
    return subprocess.run(
        [*command, *map(str, arguments)], capture_output=True, text=True, env={**env, **environment}
    )


def test_command_runs_without_tensorflows_noise(tiny_directory, tmp_path):
    run = start(
        [sys.executable, "-m", "keras_elmo_train"],
        *("classifier", "--source", tiny_directory, "--output", tmp_path / "out"),
    )
    assert run.stderr == ""
    assert run.returncode == 0
    assert "accuracy: " in run.stdout
    assert (tmp_path / "out" / "model.keras").is_file()


def test_started_command_reports_a_fault_by_status_2_and_one_line(tmp_path):
    run = start([sys.executable, "-m", "keras_elmo_train"], "classifier", tmp_path / "none.csv")
    assert run.returncode == 2
    assert run.stderr.startswith("keras_elmo-train classifier: error: ")
    assert run.stderr.count("\n") == 1


@pytest.mark.skipif(not SCRIPT.exists(), reason="keras_elmo is not installed: no script")
def test_installed_script():
    run = start([str(SCRIPT)], "--version")
    assert (run.stdout, run.stderr) == (f"keras_elmo-train {__version__}\n", "")


def test_held_back_stderr_is_shown_after_an_error():
    program = """
import os, keras_elmo_train
with keras_elmo_train.stderr_held_back():
    os.write(2, b"noise\\n")
os.write(2, b"after\\n")
with keras_elmo_train.stderr_held_back():
    os.write(2, b"reason\\n")
    raise ImportError("no module")
"""
    run = start([sys.executable, "-c", program])
    assert run.returncode == 1
    assert run.stderr.startswith("after\nreason\n")
    assert "noise" not in run.stderr
    assert "ImportError: no module" in run.stderr


def test_a_reader_that_leaves_early_is_no_traceback(monkeypatch, tmp_path):
    def leave(*_, **__):
        raise BrokenPipeError

    with open(tmp_path / "out", "w", encoding="utf-8") as out:
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr("keras_elmo.cli.commands.classifier._print_data", leave)
        monkeypatch.setattr(
            "keras_elmo.cli.commands.classifier._make_classifier", lambda args: None
        )
        assert main(["classifier"]) == 141


def test_a_user_who_asked_for_silence_has_it():
    command = [sys.executable, "-m", "keras_elmo_train"]
    run = start(command, "--version", TF_CPP_MIN_LOG_LEVEL="3")
    assert (run.stdout, run.stderr) == (f"keras_elmo-train {__version__}\n", "")
