"""What the commands set before TensorFlow is loaded."""

import ctypes
import os
import platform
import sys

import pytest

import keras_elmo
import keras_elmo_launcher as launcher


def test_freed_memory_is_kept(monkeypatch):
    monkeypatch.delenv("MALLOC_TOP_PAD_", raising=False)
    assert launcher.keep_freed_memory() == (platform.libc_ver()[0] == "glibc")


def test_the_environment_comes_first_and_other_libraries_are_left_alone(monkeypatch):
    monkeypatch.delenv("MALLOC_TOP_PAD_", raising=False)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    assert not launcher.keep_freed_memory()
    monkeypatch.setenv("MALLOC_TOP_PAD_", "131072")
    monkeypatch.setattr(ctypes, "CDLL", None)
    assert not launcher.keep_freed_memory()


def test_held_back_stderr_is_shown_after_an_error(capfd):
    with launcher.stderr_held_back():
        os.write(2, b"noise\n")
    with pytest.raises(ImportError), launcher.stderr_held_back():
        os.write(2, b"reason\n")
        raise ImportError
    assert capfd.readouterr().err == "reason\n"


@pytest.fixture
def reloads(monkeypatch):
    """What is reloaded, with the level of TensorFlow's log then."""
    seen = []
    monkeypatch.setattr(
        launcher.importlib, "reload", lambda m: seen.append((m, os.environ[launcher.LOG_LEVEL]))
    )
    return seen


@pytest.mark.parametrize(("given", "level"), [(None, "3"), ("0", "0")])
def test_a_command_loads_the_package_once(reloads, monkeypatch, given, level):
    monkeypatch.setenv(launcher.LOG_LEVEL, given or "")
    if given is None:
        monkeypatch.delenv(launcher.LOG_LEVEL)
    monkeypatch.setattr(launcher, "parses", True)
    launcher.load_package()
    launcher.load_package()
    assert reloads == [(keras_elmo, level)]


def test_a_package_that_is_there_is_left_alone(reloads):
    launcher.load_package()
    assert reloads == []


def test_the_status_of_the_command_is_that_of_the_process(monkeypatch):
    monkeypatch.setattr(launcher, "parses", False)
    monkeypatch.setattr(sys, "argv", ["keras_elmo", "nope"])
    with pytest.raises(SystemExit, match="^2$"):
        launcher.main()
