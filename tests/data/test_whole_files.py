"""The one writer: a file as a whole or not at all."""

import os
import stat
import tempfile
import threading
from pathlib import Path

import pytest

from workbench.data.whole_files import NotWrittenError, whole_file, write_text


def test_whatever_goes_wrong_the_old_file_is_kept_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def pieces():
        yield "n" * 100_000
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_text(path, pieces())
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "\ud800")
    with pytest.raises(NotWrittenError) as error, whole_file(path) as part:
        part.write_text("half")
        raise OSError(28, "No space left on device")
    assert str(error.value) == f"cannot write {str(path)!r}: No space left on device"
    assert isinstance(error.value, (OSError, ValueError)) and error.value.errno == 28
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["a.txt"]


def test_readers_see_the_old_file_until_the_new_one_is_whole(tmp_path):
    path, seen = tmp_path / "a.txt", []
    write_text(path, "old")
    write_text(path, (seen.append(path.read_text()) or "line\r\n" for _ in range(3)))
    assert seen == ["old"] * 3 and path.read_bytes() == b"line\r\n" * 3


def test_the_file_is_on_the_disk_before_it_takes_its_place_and_its_name_after(
    tmp_path, monkeypatch
):
    steps, replace = [], os.replace
    monkeypatch.setattr(
        os, "fsync", lambda handle: steps.append(stat.S_IFMT(os.fstat(handle).st_mode))
    )
    monkeypatch.setattr(os, "replace", lambda *paths: (steps.append("replaced"), replace(*paths)))
    write_text(tmp_path / "a.txt", "a")
    assert steps == [stat.S_IFREG, "replaced", stat.S_IFDIR][: 2 + (os.name == "posix")]


def test_permissions_and_links_are_kept(tmp_path):
    path, link = tmp_path / "a.txt", tmp_path / "link.txt"
    old = os.umask(0o027)
    try:
        write_text(path, "new")
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    link.symlink_to("a.txt")
    write_text(link, "through the link")
    assert path.read_text() == "through the link" and link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_a_pipe_is_written_to_as_it_is(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    write_text(tmp_path / "pipe", "through")
    reader.join(10)
    assert read == ["through"] and stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_missing_folder_and_a_folder_in_the_place_are_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("taken.txt").mkdir()
    for path, message in (
        ("gone/a.txt", "cannot write 'gone/a.txt': no such folder: 'gone'"),
        ("taken.txt", "cannot write 'taken.txt': Is a directory"),
    ):
        with pytest.raises(NotWrittenError) as error:
            write_text(path, "a")
        assert str(error.value) == message
    assert os.listdir() == ["taken.txt"] and os.listdir("taken.txt") == []


@pytest.mark.skipif(
    not hasattr(os, "seteuid") or os.geteuid() != 0, reason="only root can become nobody"
)
def test_a_folder_that_may_not_be_written_to_is_told():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o555)
        os.seteuid(65534)
        try:
            with pytest.raises(NotWrittenError, match="cannot write .*a.txt': Permission denied"):
                write_text(os.path.join(folder, "a.txt"), "a")
        finally:
            os.seteuid(0)
        assert os.listdir(folder) == []
