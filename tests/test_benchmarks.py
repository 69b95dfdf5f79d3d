"""Every benchmark and example is a command that explains itself."""

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = [
    path
    for folder in ("benchmarks", "examples")
    for path in sorted((ROOT / folder).glob("*.py"))
    if "argparse" in path.read_text(encoding="utf-8")
]


def test_there_are_some():
    assert len(COMMANDS) > 5


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_help_is_given(path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [path.name, "--help"])
    monkeypatch.syspath_prepend(str(path.parent))
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(path), run_name="__main__")
    assert ended.value.code == 0
    assert "usage: " + path.name in capsys.readouterr().out
