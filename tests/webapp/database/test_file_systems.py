"""An SQLite file that two machines could open is refused before it is opened."""

import errno
import fcntl
import mmap
from pathlib import Path

import pytest

from webapp.database import engine as db
from webapp.database.file_systems import (
    file_system,
    find_missing_feature,
    refuse_network_disk,
    refuse_unfit_folder,
)
from webapp.errors import WebappError

mmap_of_nothing = mmap.mmap
MOUNTS = """\
/dev/sda1 / ext4 rw,relatime 0 0
tmpfs /run tmpfs rw,nosuid 0 0
filer:/home /home nfs4 rw,relatime,vers=4.2 0 0
/dev/sdb1 /home/local ext4 rw 0 0
//filer/lab /srv/our\\040lab cifs rw 0 0
"""


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("/var/lib/parallax.sqlite3", "ext4"),
        ("/home/me/parallax.sqlite3", "nfs4"),
        ("/home/local/parallax.sqlite3", "ext4"),
        ("/homework/parallax.sqlite3", "ext4"),
        ("/srv/our lab/parallax.sqlite3", "cifs"),
    ],
)
def test_the_nearest_mount_tells_the_file_system(file, kind):
    assert file_system(Path(file), MOUNTS) == kind


def test_nothing_is_known_where_nothing_is_told():
    assert file_system(Path("/var/x"), "") == ""
    refuse_network_disk(Path("/var/x"), "")


def test_a_database_on_a_network_disk_is_refused_with_the_remedy(tmp_path, monkeypatch):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"{MOUNTS}filer:/tmp {tmp_path} nfs rw 0 0\n")
    monkeypatch.setattr(db, "MOUNTS", mounts)
    with pytest.raises(WebappError, match=r"network file system \(nfs\).*PostgreSQL"):
        db.open_database(f"sqlite:///{tmp_path}/parallax.sqlite3")
    assert not (tmp_path / "parallax.sqlite3").exists()


def test_a_disk_of_this_machine_can_do_what_sqlite_needs(tmp_path):
    assert find_missing_feature(tmp_path) == ""
    assert list(tmp_path.iterdir()) == []
    assert find_missing_feature(tmp_path / "missing") == ""


def no_such_call(*_given: object, **_named: object) -> None:
    raise OSError(errno.ENOSYS, "Function not implemented")


@pytest.mark.parametrize(
    ("module", "call", "stand_in", "lacking"),
    [
        (fcntl, "flock", no_such_call, "no locks of whole files"),
        (fcntl, "flock", lambda *_: None, "whole files .flock. do not keep other programs out"),
        (fcntl, "fcntl", no_such_call, "no locks of ranges"),
        (fcntl, "fcntl", lambda *_: None, "ranges .fcntl. do not keep other programs out"),
        (mmap, "mmap", no_such_call, "shares no memory"),
        (mmap, "mmap", lambda _file, size: mmap_of_nothing(-1, size), "see each other's memory"),
    ],
)
def test_a_file_system_is_refused_for_what_it_cannot_do(
    module, call, stand_in, lacking, tmp_path, monkeypatch
):
    # The calls are replaced: no such file system can be mounted wherever the tests run.
    monkeypatch.setattr(module, call, stand_in)
    with pytest.raises(WebappError, match=lacking):
        refuse_unfit_folder(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_database_is_refused_where_the_folder_is_unfit(tmp_path, monkeypatch):
    monkeypatch.setattr(fcntl, "flock", no_such_call)
    with pytest.raises(WebappError, match=r"cannot lie on this file system.*PostgreSQL"):
        db.open_database(f"sqlite:///{tmp_path}/parallax.sqlite3")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_no_unfit_one(tmp_path, monkeypatch):
    def full(*_given: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.write", full)
    assert find_missing_feature(tmp_path) == ""
