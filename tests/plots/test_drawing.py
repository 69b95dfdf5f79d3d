import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from keras_elmo import plots
from keras_elmo.plots.drawing import running_mean
from keras_elmo.plots.lettering import families_of


@pytest.mark.parametrize(
    "call",
    [
        lambda: plots.layer_weights([0.5, 0.5]),
        lambda: plots.learning_curves({"loss": [1.0]}),
    ],
)
def test_missing_matplotlib_is_told_with_the_extra(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    families_of.cache_clear()
    with pytest.raises(ImportError, match=r'pip install "keras_elmo\[plots\]"'):
        call()


@pytest.mark.end_to_end
def test_the_package_and_its_commands_import_without_matplotlib():
    code = (
        "import sys\n"
        "sys.modules['matplotlib'] = None\n"
        "import keras_elmo.cli.main, keras_elmo.cli.train, keras_elmo.plots\n"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=300).returncode == 0


def test_no_picture_uses_pyplot_which_holds_global_state():
    sources = Path(plots.__file__).parent.glob("*.py")
    imports = re.compile(r"^\s*(import|from) .*pyplot", re.MULTILINE)
    assert [path.name for path in sources if imports.search(path.read_text("utf-8"))] == []


def test_notebooks_show_a_picture():
    assert plots.layer_weights([0.5, 0.5])._repr_png_().startswith(b"\x89PNG")


def test_running_mean_keeps_constants_and_ends():
    np.testing.assert_allclose(running_mean([2.0] * 7, 3), [2.0] * 7)
    np.testing.assert_allclose(running_mean([0.0, 3.0, 6.0, 9.0], 1), [1.5, 3.0, 6.0, 7.5])
