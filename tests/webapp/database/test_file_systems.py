"""An SQLite file that two machines could open is refused before it is opened."""

from pathlib import Path

import pytest

from webapp.database import engine as db
from webapp.database.file_systems import file_system, refuse_network_disk
from webapp.errors import WebappError

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
