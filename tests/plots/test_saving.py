import os

import matplotlib
import pytest
from matplotlib.figure import Figure

from keras_elmo import plots

START = {"png": b"\x89PNG", "svg": b"<?xml"}


@pytest.fixture
def figure():
    return plots.layer_weights([0.2, 0.5, 0.3])


@pytest.mark.parametrize("form", plots.FORMATS)
def test_the_same_figure_is_the_same_file_and_settings_stay(figure, form, tmp_path):
    before = dict(matplotlib.rcParams)
    paths = [tmp_path / f"one.{form}", tmp_path / f"TWO.{form.upper()}"]
    plots.save(figure, paths[0])
    paths[1].write_bytes(b"old")
    plots.save(plots.layer_weights([0.2, 0.5, 0.3]), str(paths[1]))
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert first.startswith(START[form])
    assert dict(matplotlib.rcParams) == before


def test_a_fault_leaves_the_earlier_file(figure, tmp_path, monkeypatch):
    def fail(self, file, **kwargs):
        file.write_bytes(b"half")
        raise OSError("no space")

    (tmp_path / "a.png").write_bytes(b"old")
    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(OSError, match="no space"):
        plots.save(figure, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.png"]


def test_other_endings_and_an_absent_directory_are_told(figure, tmp_path):
    for name in ("a.jpg", ".png"):
        with pytest.raises(ValueError, match=r"must end in .png or .svg"):
            plots.save(figure, tmp_path / name)
    with pytest.raises(FileNotFoundError, match=r"directory that exists. Received: .*a.png. Make"):
        plots.save(figure, tmp_path / "absent" / "a.png")
