"""The public names: sorted, complete, importable."""

import configparser
import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

import pytest

import keras_elmo

SETUP = Path(__file__).resolve().parents[1] / "setup.cfg"


def packages():
    found = pkgutil.walk_packages(keras_elmo.__path__, "keras_elmo.")
    return ["keras_elmo", *(module.name for module in found if module.ispkg)]


def test_all_is_sorted():
    assert keras_elmo.__all__ == sorted(keras_elmo.__all__)


def test_all_equals_what_is_importable():
    public = {
        name
        for name, value in vars(keras_elmo).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    assert set(keras_elmo.__all__) == public | {"__version__"}


@pytest.mark.parametrize("name", packages())
def test_all_of_each_package_is_importable(name):
    package = importlib.import_module(name)
    names = getattr(package, "__all__", [])
    assert list(names) == sorted(set(names))
    assert [name for name in names if not hasattr(package, name)] == []


def test_star_import_gives_the_public_names():
    names = {}
    exec("from keras_elmo import *", names)
    assert set(names) - {"__builtins__"} == set(keras_elmo.__all__)


def test_version_is_the_one_of_the_metadata():
    setup = configparser.ConfigParser()
    setup.read(SETUP, encoding="utf-8")
    assert keras_elmo.__version__ == setup["metadata"]["version"]


@pytest.mark.parametrize("name", sorted(set(keras_elmo.__all__) - {"__version__"}))
def test_public_name_has_a_docstring(name):
    assert getattr(keras_elmo, name).__doc__.strip()
