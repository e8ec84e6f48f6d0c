"""What keeps a server from storing something is found by storing something."""

import os
import shutil
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select

from tests.webapp.commands.doctor.test_doctor import at, level, secure_site  # noqa: F401 - fixtures
from webapp.commands.doctor import CHECKS
from webapp.commands.doctor.findings import Level
from webapp.core import instance as instance_folder
from webapp.core.clock import utc_now
from webapp.database import file_systems
from webapp.database.engine import reading
from webapp.database.file_systems import WriteTrial, explain_write_failure
from webapp.database.models import Stamp
from webapp.server.private_port import check_readiness


def names(sessions) -> list[str]:
    with reading(sessions) as session:
        return list(session.scalars(select(Stamp.name).order_by(Stamp.id)))


def test_a_trial_leaves_nothing_behind(app, instance, sessions):
    services, before = app.extensions["parallax"], names(sessions)
    files = {path.name for path in instance.iterdir()}
    assert explain_write_failure(services.engine, instance) == ""
    assert names(sessions) == before
    assert {path.name for path in instance.iterdir()} == files


@pytest.mark.one_database
def test_a_lock_that_cannot_be_taken_is_said_wherever_somebody_asks(
    app,
    at,  # noqa: F811
    client,
    instance,
    monkeypatch,
):
    """As where a command of another user made the file: nobody can be admitted."""
    monkeypatch.setattr(file_systems, "_CACHED_FOR_S", 0.0)
    turn = instance / "parallax.sqlite3-turn"
    assert client.get("/healthz").status_code == 200
    turn.unlink(missing_ok=True)
    turn.mkdir()
    assert client.get("/healthz").status_code == 503
    assert "nothing can be written to the database" in check_readiness(instance, app)["problems"][0]
    [found] = CHECKS["writes"](at())
    assert found.level is Level.FAULT and "chown -R" in found.remedy
    turn.rmdir()
    assert client.get("/healthz").status_code == 200
    assert check_readiness(instance, app)["problems"] == []
    assert level("writes", at()) is Level.GOOD


@pytest.mark.one_database
def test_a_folder_without_room_is_said_although_it_may_be_written_to(app, instance, monkeypatch):
    def full(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(file_systems.tempfile, "TemporaryFile", full)
    said = explain_write_failure(app.extensions["parallax"].engine, instance)
    assert said == f"nothing can be written to {instance} (No space left on device)"


@pytest.mark.one_database
def test_a_trial_is_made_once_for_all_who_ask_within_some_seconds(app, instance, monkeypatch):
    made = []
    monkeypatch.setattr(file_systems, "explain_write_failure", lambda *_: made.append(1) or "")
    trial = WriteTrial(app.extensions["parallax"].engine, instance)
    assert [trial.problem() for _ in range(3)] == [""] * 3 and len(made) == 1


@pytest.mark.one_database
def test_files_of_another_user_are_named_with_what_gives_them_back(
    app,
    at,  # noqa: F811
    instance,
    monkeypatch,
):
    assert level("owners", at()) is Level.GOOD
    monkeypatch.setattr(file_systems.os, "geteuid", lambda: os.getuid() + 1)
    [found] = CHECKS["owners"](at())
    assert found.level is Level.FAULT and f"{instance} and" not in found.text
    assert "parallax.sqlite3" in found.text and found.remedy.startswith("chown ")
    assert any(
        "belongs to another user" in each for each in check_readiness(instance, app)["problems"]
    )


@pytest.mark.one_database
def test_a_command_of_another_user_than_the_folder_s_is_refused(shell, instance, monkeypatch):
    shell("runs")
    before = sorted(instance.iterdir())
    monkeypatch.setattr(instance_folder.os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(Exception, match=r"the instance folder belongs to the user .* sudo -u"):
        shell("runs")
    assert sorted(instance.iterdir()) == before


@pytest.mark.one_database
def test_names_that_run_out_are_found_before_bytes(at, app, instance, monkeypatch):  # noqa: F811
    real = os.statvfs

    class Spare:
        def __init__(self, left: int) -> None:
            self.f_files, self.f_favail = 1_000_000, left

    for left, expected in ((0, Level.FAULT), (500, Level.WARNING), (10_000, Level.GOOD)):
        room = shutil.disk_usage(instance)
        monkeypatch.setattr(shutil, "disk_usage", lambda _, room=room: room)
        monkeypatch.setattr(os, "statvfs", lambda _, left=left: Spare(left))
        assert level("disk", at()) is expected
        said = check_readiness(instance, app)["problems"]
        assert bool(said) == (left == 0) and ("df -i" in "".join(said)) == (left == 0)
    monkeypatch.setattr(os, "statvfs", real)


@pytest.mark.one_database("postgresql")
def test_connections_are_compared_with_what_the_server_admits(at):  # noqa: F811
    assert level("connections", at(workers=1)) is Level.GOOD
    [found] = CHECKS["connections"](at(workers=1000))
    assert found.level is Level.FAULT and "9010" in found.text


@pytest.mark.one_database
def test_the_days_that_a_certificate_is_good_are_counted(
    at,  # noqa: F811
    secure_site,  # noqa: F811
    monkeypatch,
):
    address, certificate = secure_site
    given = at(public_url=address)
    [found] = CHECKS["certificate"](given)
    assert found.level is Level.FAULT and "browsers refuse" in found.text
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    [found] = CHECKS["certificate"](given)
    days = int(found.text.split()[-2])
    for left, expected in ((30, Level.GOOD), (10, Level.WARNING), (1, Level.FAULT)):
        later = replace(given, now=lambda left=left: utc_now() + timedelta(days=days - left))
        [found] = CHECKS["certificate"](later)
        assert found.level is expected, found
    [found] = CHECKS["certificate"](at(public_url="http://localhost"))
    assert found.level is Level.GOOD
