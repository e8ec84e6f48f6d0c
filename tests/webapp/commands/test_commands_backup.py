"""Backups that are kept, encrypted and tried out; none counts before it was read back."""

import json
import subprocess
import sys
import time

import pyrage
import pytest

from tests.patience import PATIENCE_S
from webapp.core.clock import utc_now
from webapp.database.backup.contents import BackupError
from webapp.database.backup.routine import age_s, read_last_backup
from webapp.errors import WebappError


@pytest.fixture
def launched(shell) -> str:
    return shell("launch", "minimal", "--seed", "3").split("Run ")[1].split()[0]


@pytest.fixture
def keys(tmp_path):
    """The file of public keys and the file with the private one."""
    mine, other = pyrage.x25519.Identity.generate(), pyrage.x25519.Identity.generate()
    (tmp_path / "readers").write_text(f"# the lab\n{mine.to_public()}\n{other.to_public()}\n")
    (tmp_path / "identity").write_text(f"# public key: {mine.to_public()}\n{mine}\n")
    return tmp_path / "readers", tmp_path / "identity"


def test_an_encrypted_backup_is_tried_out_kept_and_restored_by_its_key(
    shell, launched, instance, tmp_path, keys
):
    folder = tmp_path / "backups"
    folder.mkdir()
    bystander = folder / "parallax-notes.txt"
    bystander.touch()
    readers, identity = map(str, keys)
    for _ in range(3):
        said = shell("db", "backup", str(folder), "--keep", "2", "--encrypt", readers, "--drill")
    assert "tables agree" in said and "Deleted: parallax-" in said
    made = sorted(path for path in folder.glob("*.age") if ".key" not in path.name)
    assert len(made) == 2 and len(list(folder.iterdir())) == 7 and bystander.exists()
    assert {path.stat().st_mode & 0o777 for path in folder.glob("*.age")} == {0o600}
    key = pyrage.decrypt(
        made[-1].with_name(made[-1].name.replace(".age", ".key.age")).read_bytes(),
        [pyrage.x25519.Identity.from_str(keys[1].read_text().split("\n")[1])],
    )
    assert key == (instance / "secret_key").read_bytes()

    shell("close", launched)
    with pytest.raises(BackupError, match=r"the backup is encrypted. Give the key with --identity"):
        shell("db", "restore", str(made[-1]), "--replace")
    shell("db", "restore", str(made[-1]), "--replace", "--identity", identity)
    assert " yes " in shell("runs")
    said = shell("db", "drill", str(made[-1]), "--identity", identity)
    assert "Time to restore (RTO):" in said and "Data that would be lost (RPO):" in said
    assert [line.split()[1] for line in said.splitlines() if line.startswith("run ")] == ["1"]


@pytest.mark.one_database
def test_a_damaged_or_foreign_backup_is_refused(shell, launched, tmp_path, keys):
    readers, identity = map(str, keys)
    file = tmp_path / "backup.age"
    shell("db", "backup", str(file), "--encrypt", readers)
    stranger = tmp_path / "stranger"
    stranger.write_text(f"{pyrage.x25519.Identity.generate()}\n")
    with pytest.raises(BackupError, match="cannot be decrypted"):
        shell("db", "drill", str(file), "--identity", str(stranger))
    content = bytearray(file.read_bytes())
    content[-20] ^= 1
    file.write_bytes(content)
    with pytest.raises(BackupError, match="cannot be decrypted"):
        shell("db", "drill", str(file), "--identity", identity)
    (tmp_path / "secret").write_bytes(b"-----BEGIN nothing")
    with pytest.raises(BackupError, match=r"secret: the key cannot be read .*file that age-keygen"):
        shell("db", "drill", str(file), "--identity", str(tmp_path / "secret"))
    (tmp_path / "binary").write_bytes(bytes([255, 254]))
    with pytest.raises(BackupError, match=r"binary: the file of keys cannot be read"):
        shell("db", "backup", str(tmp_path / "b"), "--encrypt", str(tmp_path / "binary"))
    (tmp_path / "nobody").write_text("# nobody\n")
    with pytest.raises(BackupError, match="holds no public key"):
        shell("db", "backup", str(tmp_path / "b"), "--encrypt", str(tmp_path / "nobody"))
    with pytest.raises(WebappError, match="need a folder"):
        shell("db", "backup", str(tmp_path / "b"), "--keep", "2")


@pytest.mark.one_database
def test_a_backup_that_stays_makes_the_next_one_also_after_a_failure(
    shell, launched, instance, tmp_path
):
    folder = tmp_path / "backups"
    folder.mkdir()
    assert read_last_backup(instance) is None
    # Whatever is wrong with the database passes, and the next round finds it sound.
    file = instance / "parallax.sqlite3"
    sound = file.read_bytes()
    file.write_bytes(b"no database" * 100)
    staying = subprocess.Popen(
        [sys.executable, "-m", "parallax", "db", "backup", str(folder), "--every", "0.0001",
         "--keep", "2", "--instance", str(instance)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert staying.stderr.readline().startswith("Error: ")
        for beside in instance.glob("parallax.sqlite3-*"):
            beside.unlink()
        file.write_bytes(sound)
        deadline = time.monotonic() + PATIENCE_S
        made = set[str]()
        while len(made) < 3 and time.monotonic() < deadline:
            made |= {path.name for path in folder.glob("parallax-*.backup")}
            assert staying.poll() is None
        assert len(made) >= 3
    finally:
        staying.terminate()
        staying.communicate()
    last = json.loads((instance / "last_backup.json").read_text())
    assert last["drilled"] is False and last["file"].startswith(str(folder))
    assert age_s(read_last_backup(instance), utc_now()) >= 0
