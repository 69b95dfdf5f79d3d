"""What the commands set before TensorFlow is loaded."""

import ctypes
import platform

import keras_elmo_launcher as launcher


def test_freed_memory_is_kept(monkeypatch):
    monkeypatch.delenv("MALLOC_TOP_PAD_", raising=False)
    assert launcher.keep_freed_memory() == (platform.libc_ver()[0] == "glibc")


def test_the_environment_comes_first(monkeypatch):
    monkeypatch.setenv("MALLOC_TOP_PAD_", "131072")
    monkeypatch.setattr(ctypes, "CDLL", None)
    assert not launcher.keep_freed_memory()


def test_a_library_without_the_setting_is_left_alone(monkeypatch):
    monkeypatch.delenv("MALLOC_TOP_PAD_", raising=False)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    assert not launcher.keep_freed_memory()
