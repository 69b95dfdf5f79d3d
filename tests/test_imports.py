"""Rooms import only from rooms below them, and no room does what only a command may."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "keras_elmo"

BOTTOM = {"basics", "text", "layers", "presets"}
TO_BILM = BOTTOM | {"bilm"}
TO_EMBEDDING = TO_BILM | {"embedding"}
TO_PRETRAINING = TO_BILM | {"language_model", "pretraining"}
TO_TASKS = TO_EMBEDDING | {"export", "tasks"}
MAY_IMPORT = {
    "basics": set(),
    "text": {"basics"},
    "layers": {"basics"},
    "presets": {"basics"},
    "bilm": BOTTOM,
    "embedding": TO_BILM,
    "language_model": TO_BILM,
    "pretraining": TO_BILM | {"language_model"},
    "export": TO_EMBEDDING,
    "corpora": TO_EMBEDDING,
    "plots": TO_PRETRAINING,
    "tasks": TO_EMBEDDING | {"export"},
    "__init__": TO_TASKS | {"corpora", "language_model", "pretraining"},
    "__main__": {"cli"},
    "cli": TO_TASKS | {"corpora", "language_model", "pretraining", "plots", "__init__"},
}
FILES = {"h5py", "io", "json", "os", "pathlib", "shutil", "tempfile", "zipfile"}
FORBIDDEN_OUTSIDE = {"text": {"keras", "tf_keras"}, "layers": FILES}
UNSAFE = {"pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}
GLOBAL_SWITCHES = {
    "basicConfig",
    "disable_eager_execution",
    "run_functions_eagerly",
    "seed",
    "set_dtype_policy",
    "set_floatx",
    "set_global_policy",
    "set_memory_growth",
    "set_random_seed",
    "set_seed",
}


def room_of(path):
    """The room of a module, from its path inside the package: `text/tokens.py` is in `text`."""
    return path.parts[0].removesuffix(".py")


def imported_modules(tree, path):
    """Yields (node, dotted name) for every import, relative ones made absolute."""
    package = ("keras_elmo", *path.parts[:-1])
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            prefix = ".".join((*base, *filter(None, [node.module])))
            yield from ((node, f"{prefix}.{alias.name}") for alias in node.names)


def rooms_imported(tree, path):
    """The rooms of keras_elmo that a module imports; a name of the package itself is `__init__`."""
    for _, name in imported_modules(tree, path):
        parts = name.split(".")
        if parts[0] == "keras_elmo":
            room = parts[1] if len(parts) > 1 else "__init__"
            yield room if room in MAY_IMPORT else "__init__"


def upward_imports(tree, path):
    room = room_of(path)
    allowed = MAY_IMPORT[room] | {room}
    return [
        f"{path}: {room} imports {other}"
        for other in rooms_imported(tree, path)
        if other not in allowed
    ]


def foreign_imports(tree, path):
    roots = {name.split(".")[0] for _, name in imported_modules(tree, path)}
    forbidden = FORBIDDEN_OUTSIDE.get(room_of(path), set()) | UNSAFE
    found = [f"{path}: imports {root}" for root in sorted(roots & forbidden)]
    if room_of(path) == "text":
        found += [f"{path}: uses tf.keras" for node in ast.walk(tree) if is_tf_keras(node)]
    return found


def is_tf_keras(node):
    if isinstance(node, ast.ImportFrom) and node.module:
        return node.module.startswith("tensorflow.keras")
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "keras"
        and isinstance(node.value, ast.Name)
        and node.value.id in {"tf", "tensorflow"}
    )


def eager_hub_imports(tree, path):
    """Imports of tensorflow_hub that run when the module is imported, so outside any function."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    lazy = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, functions)
        for inner in ast.walk(node)
    }
    return [
        f"{path}: imports {name} at module level"
        for node, name in imported_modules(tree, path)
        if name.split(".")[0] == "tensorflow_hub" and id(node) not in lazy
    ]


def command_habits(tree, path):
    """What only the command line may do: print, exit, switch something for the whole process."""
    if room_of(path) == "cli":
        return []
    return [
        f"{path}:{node.lineno}: {habit}"
        for node in ast.walk(tree)
        if (habit := habit_of(node)) is not None
    ]


def habit_of(node):
    if isinstance(node, ast.Assert):
        return "assert"
    if isinstance(node, ast.Name) and node.id == "SystemExit":
        return "SystemExit"
    if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
        return None if getattr(node.value, "value", None) is False else "allow_pickle"
    if not isinstance(node, ast.Call):
        return None
    function = node.func
    if isinstance(function, ast.Name):
        return function.id if function.id in {"print", "exit", "quit"} | GLOBAL_SWITCHES else None
    if isinstance(function, ast.Attribute) and function.attr in GLOBAL_SWITCHES:
        return function.attr
    return None


CHECKS = [upward_imports, foreign_imports, eager_hub_imports, command_habits]
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_package_has_no(check):
    found = []
    for path in MODULES:
        found += check(ast.parse((PACKAGE / path).read_text(encoding="utf-8")), path)
    assert found == []


def test_every_module_has_a_known_room():
    assert {room_of(path) for path in MODULES} <= set(MAY_IMPORT)
    assert len(MODULES) > 10


def test_every_folder_with_modules_is_a_package():
    # A folder without __init__.py would be left out of the wheel.
    folders = {(PACKAGE / path).parent for path in MODULES}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []


@pytest.mark.parametrize(
    ("path", "line", "check"),
    [
        ("text/a.py", "from keras_elmo.layers import char_cnn", upward_imports),
        ("text/a.py", "from ..bilm import bilm", upward_imports),
        ("text/a.py", "from .. import bilm", upward_imports),
        ("text/a.py", "import keras_elmo", upward_imports),
        ("layers/a.py", "import keras_elmo.text.tokens as t", upward_imports),
        ("layers/a.py", "def f():\n    from keras_elmo.text import tokenize", upward_imports),
        ("bilm/a.py", "from keras_elmo import embedding", upward_imports),
        ("bilm/a.py", "from keras_elmo import as_text", upward_imports),
        ("pretraining/a.py", "from keras_elmo.embedding import embedder", upward_imports),
        ("embedding/sources/a.py", "from keras_elmo.pretraining import trainer", upward_imports),
        ("tasks/a.py", "import keras_elmo.pretraining", upward_imports),
        ("embedding/a.py", "from ..tasks import sequential", upward_imports),
        ("language_model/a.py", "from keras_elmo.embedding import embedder", upward_imports),
        ("language_model/a.py", "from keras_elmo.pretraining import trainer", upward_imports),
        ("__init__.py", "from keras_elmo.cli import train", upward_imports),
        ("text/a.py", "import keras", foreign_imports),
        ("text/a.py", "from tensorflow.keras import layers", foreign_imports),
        ("text/a.py", "x = tf.keras.layers", foreign_imports),
        ("layers/a.py", "import os.path", foreign_imports),
        ("layers/a.py", "from pathlib import Path", foreign_imports),
        ("layers/a.py", "import h5py", foreign_imports),
        ("tasks/a.py", "import pickle", foreign_imports),
        ("embedding/sources/a.py", "import tensorflow_hub as hub", eager_hub_imports),
        ("cli/a.py", "try:\n    from tensorflow_hub import load\nfinally: pass", eager_hub_imports),
        ("tasks/a.py", "print(1)", command_habits),
        ("tasks/a.py", "assert x", command_habits),
        ("tasks/a.py", "raise SystemExit(2)", command_habits),
        ("tasks/a.py", "keras.utils.set_random_seed(0)", command_habits),
        ("tasks/a.py", "np.load(p, allow_pickle=True)", command_habits),
    ],
)
def test_check_finds_a_bad_line(path, line, check):
    assert len(check(ast.parse(line), Path(path))) == 1


@pytest.mark.parametrize(
    ("path", "line", "check"),
    [
        ("bilm/a.py", "from keras_elmo.layers import char_cnn", upward_imports),
        ("bilm/a.py", "from . import config", upward_imports),
        ("cli/a.py", "import keras_elmo\nfrom keras_elmo import pretraining", upward_imports),
        ("layers/a.py", "import keras", foreign_imports),
        ("embedding/sources/a.py", "def f():\n    import tensorflow_hub as hub", eager_hub_imports),
        ("cli/a.py", "print(1)", command_habits),
        ("tasks/a.py", "np.load(p, allow_pickle=False)", command_habits),
    ],
)
def test_check_lets_a_good_line_pass(path, line, check):
    assert check(ast.parse(line), Path(path)) == []
