"""Archives: what is unpacked, and what is refused before anything is left."""

import io
import os
import stat
import tarfile
import zipfile

import pytest

from keras_elmo.presets import archives
from keras_elmo.presets.archives import is_archive, open_archive, unpack

FILES = {"saved_model.pb": b"graph", "variables/variables.index": b"\0" * 5000}
FORMS = ["zip", "tar", "tar.gz", "tar.bz2", "tar.xz"]


def make_zip(path, files, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def make_tar(path, files, mode="w"):
    with tarfile.open(path, mode) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def make(path, files, form):
    if form == "zip":
        return make_zip(path, files)
    return make_tar(path, files, f"w:{form[4:]}")


def read(path):
    found = {}
    with open_archive(path) as members:
        for member, copy in members:
            buffer = io.BytesIO()
            copy(buffer.write)
            found[member.name] = buffer.getvalue()
            assert member.size == len(found[member.name])
    return found


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
    assert unpack(path, tmp_path / "out") == str(tmp_path / "out")
    assert tree(tmp_path / "out") == FILES
    assert sorted(os.listdir(tmp_path)) == ["archive", "out"]


@pytest.mark.parametrize("form", ["tar", "tar.gz"])
def test_as_tar_packs_a_folder(form, tmp_path):
    for name, content in FILES.items():
        (tmp_path / "model" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "model" / name).write_bytes(content)
    with tarfile.open(tmp_path / "archive", f"w:{form[4:]}") as archive:
        archive.add(tmp_path / "model", arcname=".")
    unpack(tmp_path / "archive", tmp_path / "out")
    assert tree(tmp_path / "out") == FILES


def test_a_module_of_a_hub(shared, tmp_path):
    with tarfile.open(tmp_path / "archive", "w:gz") as archive:
        archive.add(shared / "fixtures" / "tf1_hub" / "tiny", arcname="tiny")
    unpack(tmp_path / "archive", tmp_path / "out")
    assert tree(tmp_path / "out" / "tiny") == tree(shared / "fixtures" / "tf1_hub" / "tiny")


LEAVING = [
    "../evil",
    "a/../../evil",
    "/evil",
    "..",
    "C:/evil",
    "c:evil",
    "a\\evil",
    "..\\evil",
    "\\\\host\\share",
]


def assert_refused(path, message, tmp_path):
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(ValueError, match=message) as caught:
        unpack(path, tmp_path / "out")
    assert str(path) in str(caught.value)
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("form", ["zip", "tar", "tar.gz"])
@pytest.mark.parametrize("name", LEAVING)
def test_members_may_not_leave_the_folder(name, form, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    path = make(folder / "archive", {"fine": b"1", name: b"2"}, form)
    assert_refused(path, "below its own folder", folder)
    assert os.listdir(tmp_path) == ["folder"]


TWICE = [("a", "a"), ("a", "./a"), ("a", "a/b"), ("a/b", "a")]


@pytest.mark.parametrize("names", [*TWICE, ("a", "a//")])
def test_members_of_a_tar_come_once(names, tmp_path):
    with tarfile.open(tmp_path / "archive", "w") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(name))
    assert_refused(tmp_path / "archive", "once", tmp_path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("names", TWICE)
def test_members_of_a_zip_come_once(names, tmp_path):
    with zipfile.ZipFile(tmp_path / "archive", "w") as archive:
        for name in names:
            archive.writestr(name, b"content")
    assert_refused(tmp_path / "archive", "once", tmp_path)


KINDS = [
    tarfile.SYMTYPE,
    tarfile.LNKTYPE,
    tarfile.CHRTYPE,
    tarfile.BLKTYPE,
    tarfile.FIFOTYPE,
    tarfile.GNUTYPE_SPARSE,
]


@pytest.mark.parametrize("kind", KINDS)
def test_links_and_devices_in_a_tar(kind, tmp_path):
    with tarfile.open(tmp_path / "archive", "w") as archive:
        info = tarfile.TarInfo("variables")
        info.type, info.linkname = kind, "/etc"
        archive.addfile(info)
        archive.addfile(tarfile.TarInfo("variables/passwd"))
    assert_refused(tmp_path / "archive", "'variables', a link or a device", tmp_path)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices_in_a_zip(kind, tmp_path):
    info = zipfile.ZipInfo("variables")
    info.external_attr = (kind | 0o777) << 16
    make_zip(tmp_path / "archive", {info: b"/etc"})
    assert_refused(tmp_path / "archive", "'variables', a link or a device", tmp_path)


@pytest.mark.parametrize("form", FORMS)
def test_number_of_members_is_bounded(form, tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MOST_MEMBERS", 3)
    names = ["a", "b", "c", "d"]
    make(tmp_path / "archive", dict.fromkeys(names[:3], b""), form)
    assert list(read(tmp_path / "archive")) == names[:3]
    make(tmp_path / "archive", dict.fromkeys(names, b""), form)
    assert_refused(tmp_path / "archive", "at most 3 members", tmp_path)


@pytest.mark.parametrize("form", FORMS)
def test_total_size_is_bounded(form, tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "LARGEST_TOTAL", 100_000)
    make(tmp_path / "archive", {"a": bytes(60_000), "b": bytes(40_000)}, form)
    assert len(read(tmp_path / "archive")) == 2
    make(tmp_path / "archive", {"a": bytes(60_000), "b": bytes(40_001)}, form)
    assert_refused(tmp_path / "archive", "100,000 bytes together", tmp_path)


def test_a_bomb_is_refused_by_its_header_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "LARGEST_TOTAL", 1 << 20)
    make_zip(tmp_path / "archive", {"a": bytes(50 << 20)})
    assert os.path.getsize(tmp_path / "archive") < 100_000
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *_: pytest.fail("was read"))
    assert_refused(tmp_path / "archive", "Received more", tmp_path)


def test_a_bomb_whose_header_lies(tmp_path):
    path = make_zip(tmp_path / "archive", {"a": bytes(1 << 20)})
    content = path.read_bytes()
    path.write_bytes(content.replace((1 << 20).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    assert_refused(path, "damaged", tmp_path)


def test_more_bytes_than_the_header_says():
    stream = io.BytesIO(bytes(20))
    written = []
    with pytest.raises(ValueError, match="must have 10 bytes.*Received more"):
        archives._copy(lambda: stream, 10, "archive:a", "archive", written.append)
    assert written == []


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
@pytest.mark.parametrize(
    "kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.REGTYPE]
)
def test_forged_sizes_are_no_allocation_and_no_endless_loop(kind, size, tmp_path):
    content = header_of("a", b"00000000000\0", tarfile.REGTYPE) + header_of("b", size, kind)
    (tmp_path / "archive").write_bytes(content + bytes(4096))
    assert_refused(tmp_path / "archive", "damaged|Received", tmp_path)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("part", [0.3, 0.6, 0.8])
def test_cut_archives(part, form, tmp_path):
    path = make(tmp_path / "archive", {"a": os.urandom(20_000), "b": os.urandom(20_000)}, form)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * part)])
    assert_refused(path, "damaged", tmp_path)


def test_a_tar_with_a_broken_header_is_not_taken_for_its_end(tmp_path):
    path = make_tar(tmp_path / "archive", {"a": bytes(1000), "b": bytes(1000)})
    content = bytearray(path.read_bytes())
    content[512 + 1024 + 10] ^= 1
    path.write_bytes(content)
    assert_refused(path, "damaged.*breaks off", tmp_path)


def test_encrypted_member(tmp_path):
    path = make_zip(tmp_path / "archive", {"a": b"secret"}, zipfile.ZIP_STORED)
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


def test_what_is_there_stays(tmp_path):
    path = make_tar(tmp_path / "archive", FILES)
    (tmp_path / "out").mkdir()
    with pytest.raises(FileExistsError, match="must not exist"):
        unpack(path, tmp_path / "out")
    assert os.listdir(tmp_path / "out") == []


def test_another_process_was_faster(tmp_path, monkeypatch):
    path = make_tar(tmp_path / "archive", FILES)
    rename = os.rename

    def late(source, target):
        os.makedirs(os.path.join(target, "theirs"))
        rename(source, target)

    monkeypatch.setattr(os, "rename", late)
    with pytest.raises(FileExistsError, match="another process"):
        unpack(path, tmp_path / "out")
    assert sorted(os.listdir(tmp_path)) == ["archive", "out"]
    assert os.listdir(tmp_path / "out") == ["theirs"]


def test_full_disk(tmp_path, monkeypatch):
    path = make_tar(tmp_path / "archive", FILES)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archives, "_write_member", full)
    with pytest.raises(OSError, match=r"out could not be written \(No space left"):
        unpack(path, tmp_path / "out")
    assert os.listdir(tmp_path) == ["archive"]
