import errno
import io
import os
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_elmo.corpora import journaled_file
from keras_elmo.corpora.journaled_file import PAGE, JournaledFile


@pytest.fixture
def file(tmp_path):
    with JournaledFile(tmp_path / "it") as file:
        yield file


def put(file, at, content):
    file.seek(at)
    file.write(content)


def content_of(file):
    file.seek(0)
    return file.read()


def after_a_kill(file, place):
    """(content, note) of what is found when the process ended now."""
    copy = place / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(place / "it", copy)
    with JournaledFile(copy) as found:
        return content_of(found), found.note


def test_only_commits_last(file, tmp_path):
    put(file, 0, b"abcdef")
    file.commit({"n": 1})
    put(file, 2, b"XY")
    put(file, 6, b"more")
    assert content_of(file) == b"abXYefmore"
    assert after_a_kill(file, tmp_path) == (b"abcdef", {"n": 1})
    file.commit({"n": 2})
    assert after_a_kill(file, tmp_path) == (b"abXYefmore", {"n": 2})


def test_new_file_has_no_note(file):
    assert file.note is None
    assert content_of(file) == b""


@pytest.mark.parametrize(
    ("broken", "expected"),
    [("fsync", b"abc"), ("replace", b"abc"), ("_apply", b"aBcd")],
)
def test_a_kill_inside_a_commit_leaves_one_of_both(tmp_path, monkeypatch, broken, expected):
    file = JournaledFile(tmp_path / "it")
    put(file, 0, b"abc")
    file.commit({})
    put(file, 1, b"B")
    put(file, 3, b"d")
    place = JournaledFile if broken == "_apply" else journaled_file.os

    def kill(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(place, broken, kill)
        with pytest.raises(KeyboardInterrupt):
            file.commit({})
    assert after_a_kill(file, tmp_path)[0] == expected
    file.close()


WRITES = st.tuples(st.integers(0, 3 * PAGE), st.binary(min_size=1, max_size=2 * PAGE))
STEPS = st.lists(st.one_of(WRITES, st.integers(0, 3 * PAGE), st.just("commit")), max_size=12)


@given(STEPS)
@settings(max_examples=60, deadline=None)
def test_it_reads_like_a_file_and_recovers_the_last_commit(tmp_path_factory, steps):
    place = tmp_path_factory.mktemp("place")
    with JournaledFile(place / "it") as file:
        model, committed = io.BytesIO(), b""
        for step in steps:
            if step == "commit":
                file.commit({})
                committed = model.getvalue()
            elif isinstance(step, int):
                step = min(step, len(model.getvalue()))
                file.truncate(step)
                model.truncate(step)
            else:
                at, content = min(step[0], len(model.getvalue())), step[1]
                put(file, at, content)
                put(model, at, content)
            assert content_of(file) == model.getvalue()
        assert file.seek(0, os.SEEK_END) == len(model.getvalue())
        assert after_a_kill(file, place)[0] == committed


def test_memory_holds_only_what_changes_below_the_commit(file):
    put(file, 0, bytes(100 * PAGE))
    file.commit({})
    put(file, 100 * PAGE, bytes(50 * PAGE))
    put(file, 3 * PAGE - 1, b"ab")
    assert sorted(file._pages) == [2, 3]
    file.commit({})
    assert file._pages == {}


def test_a_failed_write_is_told_by_check_and_changes_nothing_lasting(file, tmp_path, monkeypatch):
    put(file, 0, b"abc")
    file.commit({})

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(file, "_to_file", full)
    # As if nothing had happened: HDF5 could not be closed else.
    assert file.write(bytes(2 * PAGE)) == 2 * PAGE
    for act in (file.check, lambda: file.commit({})):
        with pytest.raises(OSError, match="No space left"):
            act()
    assert after_a_kill(file, tmp_path)[0] == b"abc"


def test_what_is_abandoned_is_not_written(file, tmp_path):
    put(file, 0, b"abc")
    file.commit({})
    file.abandon()
    put(file, 0, b"xyz" * PAGE)
    with pytest.raises(ValueError, match="given up"):
        file.commit({})
    assert (tmp_path / "it" / "data").read_bytes() == b"abc"


def test_a_full_disk_while_the_journal_is_written_keeps_the_last_commit(
    file, tmp_path, monkeypatch
):
    put(file, 0, b"abc")
    file.commit({})

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(journaled_file.os, "replace", full)
    put(file, 0, b"x")
    with pytest.raises(OSError, match="No space"):
        file.commit({})
    assert sorted(os.listdir(tmp_path / "it")) == ["data", "journal"]
    assert after_a_kill(file, tmp_path)[0] == b"abc"


def committed(place):
    with JournaledFile(place) as file:
        put(file, 0, b"abcdef")
        file.commit({"n": 1})
    return place


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("journal", b"0\n{}", "journal must be whole. Received a damaged file. Start again"),
        ("data", b"abc", "data must hold at least 6 bytes. Received: 3. Start again"),
    ],
)
def test_damage_is_found_and_overwritten_only_when_asked(tmp_path, name, content, message):
    place = committed(tmp_path / "it")
    (place / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        JournaledFile(place)
    with JournaledFile(place, overwrite=True) as file:
        assert (file.note, content_of(file)) == (None, b"")


def test_data_of_somebody_else_are_left_alone(tmp_path):
    (tmp_path / "it").mkdir()
    (tmp_path / "it" / "data").write_bytes(b"precious")
    for overwrite in (False, True):
        with pytest.raises(ValueError, match="must have a journal beside it"):
            JournaledFile(tmp_path / "it", overwrite)
    assert (tmp_path / "it" / "data").read_bytes() == b"precious"


@pytest.mark.skipif(journaled_file.fcntl is None, reason="no file locks")
def test_two_processes_cannot_write_at_once(file, tmp_path):
    put(file, 0, b"abc")
    with pytest.raises(BlockingIOError, match="it is being written by another process"):
        JournaledFile(tmp_path / "it")
    assert content_of(file) == b"abc"


def test_publish_moves_the_data_and_leaves_nothing(tmp_path):
    file = JournaledFile(tmp_path / "it")
    put(file, 0, b"abc")
    file.commit({})
    file.publish(tmp_path / "there")
    assert os.listdir(tmp_path) == ["there"]
    assert (tmp_path / "there").read_bytes() == b"abc"


def test_publish_keeps_files_of_others(tmp_path):
    file = JournaledFile(tmp_path / "it")
    (tmp_path / "it" / "note.txt").write_text("mine")
    file.commit({})
    file.publish(tmp_path / "there")
    assert os.listdir(tmp_path / "it") == ["note.txt"]
