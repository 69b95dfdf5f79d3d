"""Files and directories that appear whole or not at all."""

import hashlib
import os

import pytest

from keras_elmo.basics import files
from keras_elmo.basics.files import (
    check_output_directory,
    is_scratch,
    remove_scratch,
    sha256_of,
    whole_directory,
    whole_file,
    whole_files,
)


class Killed(BaseException):
    """What stops a process at once: nothing behind it runs."""


@pytest.fixture(params=["swap", "no swap"])
def swap(request, monkeypatch):
    """Both ways to take the place of a directory."""
    if request.param == "no swap":
        monkeypatch.setattr(files, "_exchange", lambda *_: False)
    return request.param


def write_file(path, content="new"):
    with whole_file(path) as scratch:
        scratch.write_text(content)


def write(directory, content="new"):
    with whole_directory(directory) as stage:
        (stage / "file").write_text(content)


def killed_at(step, monkeypatch, work, *args):
    """Runs `work`, which dies before its rename number `step`; False where it has fewer."""
    rename, left = os.replace, [step]

    def dying(source, target):
        if not left[0]:
            raise Killed
        left[0] -= 1
        rename(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", dying)
        patch.setattr(files, "_remove", lambda _: None)
        try:
            work(*args)
        except Killed:
            return True
    return False


def test_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "file"
    for content in ("first", "second"):
        with whole_file(str(path)) as scratch:
            scratch.write_text(content)
            assert not path.exists() or path.read_text() == "first"
            assert scratch.parent == tmp_path and is_scratch(scratch)
        assert path.read_text() == content
        assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("write_one", [write_file, write])
@pytest.mark.parametrize("there", [False, True])
def test_failing_block_leaves_everything_as_it_was(write_one, there, tmp_path):
    target = tmp_path / "out"
    if there:
        write_one(target, "old")
    before = sorted(tmp_path.rglob("*"))
    whole = whole_file if write_one is write_file else whole_directory
    with pytest.raises(KeyboardInterrupt), whole(target) as scratch:
        (scratch if whole is whole_file else scratch / "file").write_text("half")
        raise KeyboardInterrupt
    assert sorted(tmp_path.rglob("*")) == before
    assert all(path.read_text() == "old" for path in before if path.is_file())


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_modes_follow_the_umask(umask, mode, tmp_path):
    before = os.umask(umask)
    try:
        write_file(tmp_path / "file")
        write(tmp_path / "made" / "out")
        with whole_files(tmp_path / "several") as scratch:
            (scratch / "file").write_text("new")
    finally:
        os.umask(before)
    names = ("file", "made/out/file", "several/file")
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in names} == {mode}
    folders = ("made", "made/out", "several")
    modes = {(tmp_path / name).stat().st_mode & 0o777 for name in folders}
    assert modes == {0o777 & ~umask}


def test_directory_appears_whole_with_its_parents(swap, tmp_path):
    target = tmp_path / "a" / "b"
    with whole_directory(target) as stage:
        (stage / "inner").mkdir()
        (stage / "inner" / "file").write_text("new")
        assert os.listdir(tmp_path) == [stage.name]
    assert (target / "inner" / "file").read_text() == "new"
    assert os.listdir(target.parent) == ["b"]


@pytest.mark.parametrize("old", [[], ["old", "file"]])
def test_directory_is_replaced_as_a_whole(swap, old, tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    for name in old:
        (target / name).write_text("old")
    write(target)
    assert os.listdir(target) == ["file"]
    assert (target / "file").read_text() == "new"
    assert os.listdir(tmp_path) == ["out"]


def test_a_kill_between_two_steps_leaves_the_old_or_the_new(swap, tmp_path, monkeypatch):
    """Where names cannot be swapped, the old one may have to be put back by who writes next."""
    for step in range(5):
        target = tmp_path / str(step) / "out"
        write(target, "old")
        if not killed_at(step, monkeypatch, write, target):
            break
        assert swap == "no swap" or (target / "file").read_text() == "old"
        with pytest.raises(KeyError), whole_directory(target):
            assert (target / "file").read_text() == "old"
            raise KeyError
        write(target)
        assert (target / "file").read_text() == "new"
        remove_scratch(target.parent)
        assert os.listdir(target.parent) == ["out"]
    assert step == (0 if swap == "swap" else 2)
    assert (target / "file").read_text() == "new"


def test_after_a_failed_rename_the_old_directory_is_back(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_exchange", lambda *_: False)
    target = tmp_path / "out"
    write(target, "old")
    rename, calls = os.replace, []

    def fail_for_the_new_one(source, destination):
        calls.append(source)
        if len(calls) == 2:
            raise OSError("disk full")
        rename(source, destination)

    monkeypatch.setattr(os, "replace", fail_for_the_new_one)
    with pytest.raises(OSError, match="disk full"):
        write(target)
    assert (target / "file").read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]


def test_two_that_write_one_new_directory_at_once(tmp_path):
    if not files._exchange(*(tmp_path.joinpath(name).mkdir() or tmp_path / name for name in "ab")):
        pytest.skip("this system cannot swap two names")
    exchange, target = files._exchange, tmp_path / "out"
    with whole_directory(target) as stage:
        (stage / "file").write_text("mine")
        write(target, "another's")
    assert (target / "file").read_text() == "mine"
    with pytest.MonkeyPatch.context() as patch:
        # The other one comes after the look whether there is anything to swap with.
        target = tmp_path / "late"

        def late(one, other):
            patch.setattr(files, "_exchange", exchange)
            write(target, "another's")
            return False

        patch.setattr(files, "_exchange", late)
        patch.setattr(type(target), "exists", lambda path: path.name != "late" and path.is_dir())
        write(target, "mine")
    assert (target / "file").read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "late", "out"]


def test_files_appear_together_beside_others(tmp_path):
    target = tmp_path / "a" / "b"
    for content in ("old", "new"):
        with whole_files(target) as scratch:
            for name in ("one", "two"):
                (scratch / name).write_text(content)
        (target / "another").write_text("stays")
    assert {path.name: path.read_text() for path in target.iterdir()} == {
        **{"one": "new", "two": "new", "another": "stays"},
    }


def test_files_of_a_failing_block_stay_as_they_were(tmp_path):
    (tmp_path / "one").write_text("old")
    with pytest.raises(KeyError), whole_files(tmp_path) as scratch:
        (scratch / "one").write_text("half")
        raise KeyError
    assert (tmp_path / "one").read_text() == "old"
    assert os.listdir(tmp_path) == ["one"]


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path, monkeypatch):
    assert killed_at(0, monkeypatch, write_file, tmp_path / "file")
    monkeypatch.setattr(files, "_exchange", lambda *_: False)
    assert killed_at(0, monkeypatch, write, tmp_path / "directory")
    for name in ("mine.writing", ".mine", "writing"):
        (tmp_path / name).write_text("stays")
    assert len(os.listdir(tmp_path)) == 5
    remove_scratch(tmp_path)
    assert sorted(os.listdir(tmp_path)) == [".mine", "mine.writing", "writing"]
    assert not any(is_scratch(path) for path in tmp_path.iterdir())


def test_sha256_of_a_file_longer_than_a_piece(tmp_path):
    content = os.urandom((1 << 20) + 7)
    (tmp_path / "file").write_bytes(content)
    assert sha256_of(tmp_path / "file") == hashlib.sha256(content).hexdigest()


def test_a_file_can_be_written_in_another_directory(tmp_path):
    (tmp_path / "scratch").mkdir()
    with whole_file(tmp_path / "it", written_in=tmp_path / "scratch") as path:
        path.write_text("new")
        assert os.listdir(tmp_path) == ["scratch"]
        assert all(map(is_scratch, os.listdir(tmp_path / "scratch")))
    assert (tmp_path / "it").read_text() == "new"
    assert os.listdir(tmp_path / "scratch") == []


def test_outputs_that_must_not_be_written_are_told(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("")
    (tmp_path / "full" / ".file.1-ab.writing").mkdir()  # of a killed process: no obstacle
    for path, overwrite, names, message in (
        ("file", True, ["mine"], "`output`: .*file is a file. Give a directory"),
        ("full", False, ["mine"], "full holds the output of an earlier run.*`overwrite`"),
        ("full", True, ["other"], r"full holds other files \(mine\). Give a new directory"),
        ("file/out", False, ["mine"], "cannot be made"),
    ):
        with pytest.raises(OSError, match=message):
            check_output_directory(tmp_path / path, overwrite, names)
    check_output_directory(tmp_path / "new", False, ["mine"])
    check_output_directory(tmp_path / "full", True, ["mine"])
    check_output_directory(tmp_path / "full", False, ["other"], goes_on=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "full"]
