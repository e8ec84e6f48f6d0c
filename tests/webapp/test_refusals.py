"""Refusals of machines, planted without a server: what each says."""

import smtplib
import socket
import sys
from collections.abc import Callable
from types import SimpleNamespace as Some

import boto3
import httpx
import pytest

from webapp.commands.db import fetch
from webapp.commands.erasure_record import copy_record
from webapp.core.settings import Settings
from webapp.database.backup import encryption, postgresql, sqlite
from webapp.database.backup.bucket import Bucket
from webapp.database.locks import FileLock
from webapp.jobs import delivery
from webapp.recruiters import registry
from webapp.server import server_control


def said(call: Callable[[], object]) -> str:
    """Return what a call that is refused says."""
    with pytest.raises(Exception) as caught:
        call()
    return str(caught.value)


def test_a_library_that_is_not_installed_is_named_with_its_extra(monkeypatch):
    for name in ("boto3", "pyrage"):
        monkeypatch.setitem(sys.modules, name, None)
    assert said(Bucket("s3://lab").names) == (
        "s3://lab: the library for buckets is not installed. pip install"
        " 'parallax-experiments[s3]'."
    )
    assert said(encryption._load_pyrage) == (
        "encrypting needs a library that is not installed. Install it with: pip install"
        " 'parallax-experiments[backup]'."
    )

    def absent(**_: object) -> None:
        raise ModuleNotFoundError("No module named 'boto3'", name="boto3")

    class Paying(registry.PayingRecruiter):
        open_platform = staticmethod(absent)

    monkeypatch.setattr(Paying, "__abstractmethods__", frozenset())
    monkeypatch.setattr(registry, "load_recruiter", lambda *_: object.__new__(Paying))
    assert said(lambda: registry.open_platform("mturk", None, live=False)) == (
        'the recruiter "mturk" needs a library that is not installed: boto3. pip install'
        " 'parallax-experiments[mturk]'."
    )


def test_a_bucket_that_is_away_or_holds_another_length_is_named(tmp_path, monkeypatch):
    client = Some(upload_file=lambda *_: None, head_object=lambda **_: {"ContentLength": 3})
    monkeypatch.setattr(boto3, "client", lambda *_, **__: client)
    (tmp_path / "one.backup.age").write_bytes(b"whole")
    put = lambda: Bucket("s3://lab").put([tmp_path / "one.backup.age"])  # noqa: E731
    assert said(put) == (
        "s3://lab: one.backup.age arrived with 3 bytes. Expected 5 bytes. Make the backup again."
    )

    def away(*_: object) -> None:
        raise OSError("it is away")

    client.upload_file = away
    assert "(it is away). Check backup_bucket, backup_endpoint and the credentials" in said(put)
    asked = ("--instance", str(tmp_path), str(tmp_path / "there"))
    assert "there is no bucket to fetch a backup from. Set backup_bucket" in said(
        lambda: fetch.main(asked, standalone_mode=False)
    )


def test_a_backup_that_is_damaged_or_of_another_program_is_named(tmp_path):
    file = tmp_path / "a.backup"
    file.write_bytes(b"SQLite format 3\0" + bytes(100))
    assert said(lambda: sqlite.content_of(file)).startswith(f"{file}: the backup is damaged: ")
    file.write_text("CREATE TABLE x;\n")
    assert said(lambda: postgresql._summarise_script(file, file)) == (
        f"{file}: the file is a PostgreSQL archive, but not one of Parallax."
    )
    copy = tmp_path / "none" / "copy"
    assert said(lambda: copy_record(tmp_path, copy)) == (
        f"{copy}: the copy cannot be written (No such file or directory)."
    )
    assert "the lock is not held" in said(FileLock(tmp_path / "lock").fileno)


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (smtplib.SMTPRecipientsRefused({"a@b.org": (550, b"no mailbox")}), "550 no mailbox"),
        (smtplib.SMTPDataError(451, b"4.7.1 Later,\n4.7.1 then"), "451 4.7.1 Later, 4.7.1 then"),
        (smtplib.SMTPAuthenticationError(535, b"wrong password"), "535 wrong password"),
        (smtplib.SMTPServerDisconnected("Connection unexpectedly closed"), "Connection unexpec"),
        (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
        (TimeoutError(), "it took too long"),
    ],
)
def test_why_a_mail_was_not_taken_is_told_in_the_servers_words(error, why, monkeypatch):
    def refuse(_: Settings) -> None:
        raise error

    monkeypatch.setattr(delivery, "_connect_mail_server", refuse)
    here = Settings(smtp_host="mail.example.org", smtp_from="lab@example.org")
    told = said(lambda: delivery.send_mail(here, "a@b.org", "s", "t"))
    assert f"mail.example.org did not accept the mail: {why}" in told
    assert "Error" not in told and "Check smtp_host" in told


def test_a_server_that_does_not_begin_or_end_says_what_to_do(tmp_path, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert said(lambda: server_control._open_socket("127.0.0.1", port)) == (
            f"127.0.0.1:{port}: port {port} is in use. Expected an address of this machine and a"
            " free port. Stop the program that listens there, or use any free port: --port 0."
        )

    def refused(*_: object, **__: object) -> None:
        raise httpx.ConnectError("refused")

    monkeypatch.setattr(httpx, "get", refused)
    assert said(lambda: server_control._wait_until_ready("http://here", tmp_path)) == (
        f"http://here: the server did not start (refused). {tmp_path / 'server.log'} explains why."
    )
    monkeypatch.setattr(
        server_control, "find_running_server", lambda _: server_control.Server(9, "http://here")
    )
    monkeypatch.setattr(server_control.os, "kill", lambda *_: None)
    monkeypatch.setattr(server_control, "_STOP_TIMEOUT_S", -1)
    assert said(lambda: server_control.stop(tmp_path)) == (
        f"{tmp_path}: the server (process 9) was asked to stop but is still running."
        " End it with: kill -9 9."
    )
