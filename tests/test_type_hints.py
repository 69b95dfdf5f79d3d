"""Every public function, class and method says what it takes and gives."""

import inspect
from importlib import resources

import pytest

import keras_elmo
from keras_elmo import plots
from keras_elmo.corpora import spark


def is_own(value, module):
    """Whether a value is a class or function of a module."""
    return callable(value) and getattr(value, "__module__", None) == module


NAMES = {
    keras_elmo: keras_elmo.__all__,
    plots: plots.__all__,
    spark: [name for name, value in vars(spark).items() if is_own(value, spark.__name__)],
}
PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module, names in NAMES.items()
    for name in names
    if callable(getattr(module, name)) and not name.startswith("_")
}
# Keras calls them, by its own convention.
OF_KERAS = {"build", "call", "get_config", "from_config", "compute_mask", "compute_output_shape"}


def signatures(name, value):
    """(name, function) of a function, or of a class' constructor and own public methods."""
    if not inspect.isclass(value):
        yield name, value
        return
    for key in (k for kind in value.__mro__ for k in vars(kind)):
        member = inspect.getattr_static(value, key)
        member = getattr(member, "fget", None) or getattr(member, "__func__", member)
        is_own = (getattr(member, "__module__", None) or "").startswith("keras_elmo")
        is_public = key == "__init__" or not key.startswith("_")
        if inspect.isfunction(member) and is_own and is_public and key not in OF_KERAS:
            yield f"{name}.{key}", member


def unhinted(name, function):
    """What of a signature has no hint."""
    signature = inspect.signature(function)
    free = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    for parameter in signature.parameters.values():
        if parameter.name in ("self", "cls") or parameter.kind in free:
            continue
        if parameter.annotation is inspect.Parameter.empty:
            yield f"{name}({parameter.name})"
    if not name.endswith("__init__") and signature.return_annotation is inspect.Signature.empty:
        yield f"{name} -> ?"


@pytest.mark.parametrize("name", PUBLIC)
def test_public_name_has_type_hints(name):
    found = [part for each in signatures(name, PUBLIC[name]) for part in unhinted(*each)]
    assert found == []


def test_hints_are_told_to_type_checkers():
    assert resources.files(keras_elmo).joinpath("py.typed").is_file()


def test_an_absent_hint_is_found():
    def half(a: int, b) -> int:
        """No hint of b."""

    assert list(unhinted("half", half)) == ["half(b)"]
    assert list(unhinted("f", lambda: 0)) == ["f -> ?"]
