"""Archives: what is unpacked, and what is refused before anything is left."""

import io
import os
import stat
import tarfile
import zipfile

import pytest

from keras_elmo.basics.files import whole_directory
from keras_elmo.presets import archives
from keras_elmo.presets.archives import is_archive, members_of, unpack

FILES = {"saved_model.pb": b"graph", "variables/variables.index": b"\0" * 5000}
FORMS = ["zip", "tar", "tar.gz", "tar.bz2", "tar.xz"]


def make(path, files, form):
    """An archive of pairs or a dict of name, or info, and content."""
    pairs = files.items() if isinstance(files, dict) else files
    if form == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in pairs:
                archive.writestr(name, content)
        return path
    with tarfile.open(path, f"w:{form[4:]}") as archive:
        for name, content in pairs:
            info = tarfile.TarInfo(name) if isinstance(name, str) else name
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def read(path):
    found = {}
    for member in members_of(path):
        buffer = io.BytesIO()
        member.copy_to(buffer)
        found[member.name] = buffer.getvalue()
        assert member.size == len(found[member.name])
    return found


def unpack_whole(path, folder):
    with whole_directory(folder) as scratch:
        unpack(path, scratch)


def tree(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("form", FORMS)
def test_read_and_unpacked_as_packed(form, tmp_path):
    path = make(tmp_path / "archive", FILES, form)
    assert is_archive(path)
    assert read(path) == FILES
    unpack_whole(path, tmp_path / "out")
    assert tree(tmp_path / "out") == FILES
    assert sorted(os.listdir(tmp_path)) == ["archive", "out"]


@pytest.mark.parametrize("form", ["zip", "tar"])
def test_modes_follow_the_umask_not_the_archive(form, tmp_path):
    info = tarfile.TarInfo("private") if form == "tar" else zipfile.ZipInfo("private")
    setattr(info, *(("mode", 0o600) if form == "tar" else ("external_attr", 0o100600 << 16)))
    unpack_whole(make(tmp_path / "archive", [(info, b"content")], form), tmp_path / "out")
    (tmp_path / "usual").touch()
    assert (tmp_path / "out" / "private").stat().st_mode == (tmp_path / "usual").stat().st_mode


def assert_refused(path, message, tmp_path):
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(ValueError, match=message) as caught:
        unpack_whole(path, tmp_path / "out")
    assert str(path) in str(caught.value)
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("form", ["zip", "tar.gz"])
@pytest.mark.parametrize("name", ["a/../../evil", "/evil", ".."])
def test_members_may_not_leave_the_folder(name, form, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    path = make(folder / "archive", {"fine": b"1", name: b"2"}, form)
    assert_refused(path, f"below its own folder, each once.*{name}'", folder)
    assert os.listdir(tmp_path) == ["folder"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("form", ["zip", "tar"])
@pytest.mark.parametrize("names", [("a", "a"), ("a", "./a")])
def test_members_come_once(names, form, tmp_path):
    path = make(tmp_path / "archive", [(name, b"content") for name in names], form)
    assert_refused(path, "each once. Received: 'a' twice", tmp_path)


@pytest.mark.parametrize(
    ("kind", "target"),
    [(tarfile.SYMTYPE, "/etc"), (tarfile.LNKTYPE, "inside"), (tarfile.FIFOTYPE, "inside")],
)
def test_links_and_devices_in_a_tar(target, kind, tmp_path):
    info = tarfile.TarInfo("variables")
    info.type, info.linkname = kind, target
    path = make(tmp_path / "archive", [(info, b""), ("variables/passwd", b"")], "tar")
    assert_refused(path, "'variables'", tmp_path)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO])
def test_links_and_devices_in_a_zip(kind, tmp_path):
    info = zipfile.ZipInfo("variables")
    info.external_attr = (kind | 0o777) << 16
    make(tmp_path / "archive", [(info, b"/etc")], "zip")
    assert_refused(tmp_path / "archive", "'variables' is a special file", tmp_path)


@pytest.mark.parametrize("form", ["zip", "tar.gz"])
def test_number_and_total_size_of_members_are_bounded(form, tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MOST_MEMBERS", 3)
    monkeypatch.setattr(archives, "LARGEST_TOTAL", 100_000)
    make(tmp_path / "archive", {"a": bytes(60_000), "b": bytes(40_000), "c": b""}, form)
    assert list(read(tmp_path / "archive")) == ["a", "b", "c"]
    make(tmp_path / "archive", dict.fromkeys("abcd", b""), form)
    assert_refused(tmp_path / "archive", "at most 3 members", tmp_path)
    make(tmp_path / "archive", {"a": bytes(60_000), "b": bytes(40_001)}, form)
    assert_refused(tmp_path / "archive", "100,000 bytes together", tmp_path)


def test_a_bomb_is_refused_by_its_header_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "LARGEST_TOTAL", 1 << 20)
    make(tmp_path / "archive", {"a": bytes(50 << 20)}, "zip")
    assert os.path.getsize(tmp_path / "archive") < 100_000
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *_: pytest.fail("was read"))
    assert_refused(tmp_path / "archive", "Received more", tmp_path)


def test_a_bomb_whose_header_lies(tmp_path):
    path = make(tmp_path / "archive", {"a": bytes(1 << 20)}, "zip")
    content = path.read_bytes()
    path.write_bytes(content.replace((1 << 20).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    assert_refused(path, "damaged", tmp_path)


def header_of(name, size, kind):
    info = tarfile.TarInfo(name)
    info.type = kind
    block = bytearray(info.tobuf(tarfile.USTAR_FORMAT))
    block[124:136] = size
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


HUGE = b"77777777777\0"
NEGATIVE = b"\xff" * 10 + b"\xfc\x00"


@pytest.mark.parametrize("size", [HUGE, NEGATIVE])
@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.REGTYPE])
def test_forged_sizes_are_no_allocation_and_no_endless_loop(kind, size, tmp_path):
    content = header_of("a", b"00000000000\0", tarfile.REGTYPE) + header_of("b", size, kind)
    (tmp_path / "archive").write_bytes(content + bytes(4096))
    assert_refused(tmp_path / "archive", "damaged|Received", tmp_path)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("part", [0.3, 0.8])
def test_cut_archives(part, form, tmp_path):
    path = make(tmp_path / "archive", {"a": os.urandom(20_000), "b": os.urandom(20_000)}, form)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * part)])
    assert_refused(path, "damaged", tmp_path)


def test_a_tar_with_a_broken_header_is_not_taken_for_its_end(tmp_path):
    path = make(tmp_path / "archive", {"a": bytes(1000), "b": bytes(1000)}, "tar")
    content = bytearray(path.read_bytes())
    content[512 + 1024 + 10] ^= 1
    path.write_bytes(content)
    assert_refused(path, "damaged.*breaks off", tmp_path)


def test_encrypted_member(tmp_path):
    path = make(tmp_path / "archive", {"a": b"secret"}, "zip")
    content = bytearray(path.read_bytes())
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    assert_refused(path, "damaged or encrypted", tmp_path)


@pytest.mark.parametrize("content", [b"", b"\x89HDF\r\n\x1a\n" + bytes(2000), b"\x1f\x8bxx", b"PK"])
def test_other_files_are_no_archives(content, tmp_path):
    (tmp_path / "file").write_bytes(content)
    assert not is_archive(tmp_path / "file")
    assert_refused(tmp_path / "file", "readable archive", tmp_path)


def test_full_disk_is_not_told_as_damage(tmp_path):
    path = make(tmp_path / "archive", FILES, "tar.gz")

    class Full(io.BytesIO):
        def write(self, _):
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        for member in members_of(path):
            member.copy_to(Full())


def test_a_python_whose_tarfile_has_no_filter(tmp_path, monkeypatch):
    monkeypatch.delattr(tarfile, "data_filter")
    path = make(tmp_path / "archive", FILES, "zip")
    with pytest.raises(ImportError, match=r"3.11.4 or later.*Unpack .*archive by hand"):
        read(path)
