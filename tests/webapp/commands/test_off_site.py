"""A backup in a bucket brings a study back when the machine is gone; nobody can read it there."""

import boto3
import pyrage
import pytest
from click.testing import CliRunner
from moto.server import ThreadedMotoServer

import parallax
from webapp.database.backup.contents import BackupError
from webapp.errors import WebappError

pytestmark = pytest.mark.one_database


@pytest.fixture
def bucket(monkeypatch):
    """An empty bucket of a stand-in for S3, which the settings name."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    stand_in = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    stand_in.start()
    endpoint = "http://{}:{}".format(*stand_in.get_host_and_port())
    boto3.client("s3", endpoint_url=endpoint).create_bucket(Bucket="lab")
    monkeypatch.setenv("PARALLAX_BACKUP_BUCKET", "s3://lab/parallax")
    monkeypatch.setenv("PARALLAX_BACKUP_ENDPOINT", endpoint)
    made = boto3.resource("s3", endpoint_url=endpoint).Bucket("lab")
    made.objects.delete()  # the stand-in's memory is its process's
    yield made
    stand_in.stop()


@pytest.fixture
def keys(tmp_path):
    mine = pyrage.x25519.Identity.generate()
    (tmp_path / "readers").write_text(f"{mine.to_public()}\n")
    (tmp_path / "identity").write_text(f"{mine}\n")
    return str(tmp_path / "readers"), str(tmp_path / "identity")


def test_a_lost_machine_comes_back_from_the_bucket_and_the_key_alone(
    shell, instance, tmp_path, bucket, keys
):
    readers, identity = keys
    run = shell("launch", "minimal", "--seed", "3").split("Run ")[1].split()[0]
    (tmp_path / "here").mkdir()
    assert "s3://lab/parallax" in shell(
        "db", "backup", str(tmp_path / "here"), "--encrypt", readers
    )
    shell("close", run)
    assert shell("db", "backup", str(tmp_path / "here"), "--encrypt", readers)
    secret = (instance / "secret_key").read_bytes()
    for each in bucket.objects.all():
        assert secret[20:60] not in each.get()["Body"].read()

    elsewhere, there = tmp_path / "new machine", tmp_path / "there"
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(elsewhere)})

    def new(*arguments: str) -> str:
        return runner.invoke(parallax.cli, arguments, catch_exceptions=False).output

    new("db", "fetch", str(there), "--identity", identity)
    assert (elsewhere / "secret_key").read_bytes() == secret
    [newest] = there.glob("*.backup.age")
    assert newest.stat().st_mode & 0o777 == 0o600
    new("db", "restore", str(newest), "--identity", identity)
    assert run in new("runs") and " no " in new("runs")
    assert "are keys already" in new("db", "fetch", str(there), "--identity", identity)


def test_nothing_leaves_the_machine_unencrypted(shell, tmp_path, bucket, keys):
    (tmp_path / "here").mkdir()
    with pytest.raises(WebappError, match="must be encrypted"):
        shell("db", "backup", str(tmp_path / "here"))
    assert not list(bucket.objects.all())


def test_a_bucket_that_refuses_is_told_and_the_local_backup_stays(
    shell, tmp_path, bucket, keys, monkeypatch
):
    shell("launch", "minimal", "--seed", "3")
    monkeypatch.setenv("PARALLAX_BACKUP_BUCKET", "s3://not-there/parallax")
    (tmp_path / "here").mkdir()
    with pytest.raises(BackupError, match="cannot be copied") as refused:
        shell("db", "backup", str(tmp_path / "here"), "--encrypt", keys[0])
    assert "AWS_ACCESS_KEY_ID" in str(refused.value)
    assert list((tmp_path / "here").glob("*.backup.age"))


def test_an_empty_bucket_says_how_a_backup_gets_there(shell, tmp_path, bucket):
    with pytest.raises(BackupError, match="there is no backup"):
        shell("db", "fetch", str(tmp_path / "there"))
