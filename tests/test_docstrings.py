"""The examples in docstrings run, and give what they show."""

import importlib
import inspect
import pkgutil

import keras
import numpy as np
import pytest
import tensorflow as tf
from shown_code import fenced, run_program, run_session

import keras_elmo

pytestmark = pytest.mark.end_to_end
COMMON = {"keras": keras, "keras_elmo": keras_elmo, "np": np, "tf": tf}


def documented():
    """(name, docstring, names of its module) of every public class and function with an example."""
    found = pkgutil.walk_packages(keras_elmo.__path__, "keras_elmo.")
    for module in [importlib.import_module(info.name) for info in found]:
        for name, value in vars(module).items():
            is_own = getattr(value, "__module__", None) == module.__name__
            text = inspect.getdoc(value) if is_own and callable(value) else None
            if text and not name.startswith("_") and (">>>" in text or "```python" in text):
                yield f"{module.__name__}.{name}", text, {**COMMON, **vars(module)}


EXAMPLES = list(documented())


@pytest.mark.parametrize(("name", "text", "names"), EXAMPLES, ids=[name for name, *_ in EXAMPLES])
def test_example_runs(name, text, names, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {**names, "__name__": "__main__"}
    run_session(text, names, name)
    for line, code in fenced(text, "python"):
        run_program(code, names, name, line)
