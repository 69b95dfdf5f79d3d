import os
import stat

import matplotlib
import pytest
from matplotlib.figure import Figure

from keras_elmo import plots

START = {"png": b"\x89PNG", "svg": b"<?xml"}


@pytest.fixture
def figure():
    return plots.layer_weights([0.2, 0.5, 0.3])


@pytest.mark.parametrize("form", plots.FORMATS)
def test_the_same_figure_is_the_same_file(figure, form, tmp_path):
    paths = [tmp_path / f"one.{form}", tmp_path / f"TWO.{form.upper()}"]
    plots.save(figure, paths[0])
    plots.save(plots.layer_weights([0.2, 0.5, 0.3]), str(paths[1]))
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert first.startswith(START[form])
    assert sorted(os.listdir(tmp_path)) == sorted(path.name for path in paths)


def test_an_earlier_file_is_replaced_and_readable(figure, tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(b"old")
    plots.save(figure, path)
    assert path.read_bytes().startswith(START["png"])
    (tmp_path / "usual").touch()
    assert path.stat().st_mode == (tmp_path / "usual").stat().st_mode
    assert stat.S_IMODE(path.stat().st_mode) & 0o400


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


@pytest.mark.parametrize("name", ["a.jpg", "a", ".png"])
def test_other_endings_are_errors(figure, name, tmp_path):
    with pytest.raises(ValueError, match=r"must end in .png or .svg"):
        plots.save(figure, tmp_path / name)


def test_settings_of_matplotlib_stay(figure, tmp_path):
    before = dict(matplotlib.rcParams)
    plots.save(figure, tmp_path / "a.svg")
    assert dict(matplotlib.rcParams) == before


def test_an_absent_directory_is_told(figure, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"directory that exists. Received: .*a.png. Make"):
        plots.save(figure, tmp_path / "absent" / "a.png")
