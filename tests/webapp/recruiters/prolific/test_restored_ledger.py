"""The gate before money: a ledger that may be old pays and publishes nothing unseen."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import parallax
from tests.webapp.restoring import copied, copied_with_ledger
from webapp.database.engine import reading
from webapp.gate.gate import find_blockers

pytestmark = pytest.mark.one_database


@pytest.fixture
def submission(lab, shell) -> str:
    """A submission whose reward is paid."""
    submission = lab.hand_in(lab.publish())
    assert shell("approve", lab.run.ref, "--yes").exit_code == 0
    return submission


@pytest.fixture
def db(instance, app):
    """Return a function that gives a command of the database, as while no server runs."""
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})

    def call(*command: str) -> None:
        app.extensions["parallax"].engine.dispose()
        result = runner.invoke(parallax.cli, ["db", *command])
        assert result.exit_code == 0, (result.output, result.exception)

    return call


@pytest.fixture(params=["db restore", "copied file"])
def an_older_one(request, sessions, instance, db, tmp_path, monkeypatch):
    """Return a function that keeps the database as it is, and returns what puts it back."""
    if request.param == "copied file":
        return lambda: copied(sessions)

    def keep():
        file = str(tmp_path / "backup")
        db("backup", file)
        monkeypatch.setattr("webapp.commands.db.refuse_while_serving", lambda _: None)
        return lambda: db("restore", file, "--replace", "--without-record")

    return keep


def test_an_older_ledger_pays_and_publishes_nothing_before_it_was_reconciled(
    lab, stand_in, submission, shell, bonus_file, an_older_one, app, instance
):
    file = bonus_file(submission, "0.25")
    put_back = an_older_one()
    assert shell("bonus", lab.run.ref, "--file", file, "--yes").exit_code == 0
    paid = stand_in.payments()
    put_back()
    said = shell("bonus", lab.run.ref, "--file", file, "--yes")
    assert "the server does not pay now" in str(said.exception)
    assert f"parallax reconcile {lab.run.ref}" in str(said.exception)
    assert stand_in.payments() == paid
    # Looking is not enough: what the platform shows must stand in the ledger first.
    assert "bonus_elsewhere" in shell("reconcile", lab.run.ref).output
    said = shell("bonus", lab.run.ref, "--file", file, "--yes")
    assert "the server does not pay now" in str(said.exception)
    shell("reconcile", lab.run.ref, "--fix")
    # The gate is open, and what was written down decides.
    said = shell("bonus", lab.run.ref, "--file", file, "--yes")
    assert "has a bonus of $0.25 that was paid by hand" in str(said.exception)
    assert stand_in.payments() == paid


def test_where_the_file_beside_it_was_copied_too_the_platform_decides(
    lab, sessions, stand_in, submission, shell, bonus_file, instance
):
    bonus = ("bonus", lab.run.ref, "--file", bonus_file(submission, "0.25"), "--yes")
    put_back = copied_with_ledger(sessions, instance)
    assert shell(*bonus).exit_code == 0
    paid = stand_in.payments()
    put_back()
    assert "missing from the ledger" in str(shell(*bonus).exception)
    assert stand_in.payments() == paid


@pytest.mark.parametrize("spoil", [Path.unlink, lambda file: file.write_text("{")])
def test_without_the_file_beside_it_nothing_is_paid_before_the_platform_was_read(
    lab, sessions, stand_in, submission, shell, bonus_file, instance, spoil
):
    bonus = ("bonus", lab.run.ref, "--file", bonus_file(submission, "0.25"), "--yes")
    assert json.loads((instance / "ledger").read_text())["payments"] == 1
    spoil(instance / "ledger")
    paid = stand_in.payments()
    said = str(shell(*bonus).exception)
    assert "is missing from the instance folder or cannot be read" in said
    assert f"parallax reconcile {lab.run.ref} --fix" in said
    assert stand_in.payments() == paid
    assert shell("reconcile", lab.run.ref).exit_code == 0
    assert shell(*bonus).exit_code == 0
    assert len(stand_in.payments()) == len(paid) + 1
    # A second loss is a doubt of its own, which the first comparison does not end.
    spoil(instance / "ledger")
    with reading(sessions) as session:
        assert [name for name, _ in find_blockers(session.connection())] == ["ledger"]
