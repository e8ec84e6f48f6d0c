"""What commit 92008c70 left is opened by the present code, which finds the same and goes on.

``tests/data/earlier/README.md`` says how it was made.
"""

import csv
import json
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask import Flask
from sqlalchemy import inspect, select, text

import parallax
from experiment.payment.payment import Caps, PaymentState
from tests.earlier import figures, unpack
from tests.webapp.conftest import Visitor
from webapp import create_app
from webapp.database.models import Participant, Payment, Response, Run, Trial
from webapp.database.schema import SchemaError, revisions
from webapp.payments.accounts import load_accounts
from webapp.payments.ledger import record_payments
from webapp.payments.rewards import build_reward_entries

pytestmark = pytest.mark.empty_database

Shell = Callable[..., str]
TABLES = ("answers", "devices", "endings", "events", "items", "lists", "participants", "payments",
          "responses", "timings", "trials", "verdicts")  # fmt: skip


@pytest.fixture
def known(database_url: str | None) -> dict[str, Any]:
    """What the earlier installation held."""
    return figures()["postgresql" if database_url else "sqlite"]


@pytest.fixture
def folder(tmp_path: Path, database_url: str | None, request: pytest.FixtureRequest) -> Path:
    """The earlier installation, as it was in the middle of its run."""
    folder = unpack("postgresql" if database_url else "sqlite", tmp_path / "earlier")
    if database_url:
        settings = f"database_url = {json.dumps(database_url)}\n"
        (folder / "parallax.toml").write_text(settings, "utf-8")
        subprocess.run(
            [
                request.getfixturevalue("postgres").programs / "pg_restore", "--no-owner",
                f"--dbname={database_url.replace('+psycopg', '')}",
                folder / "backups" / "after_the_erasure",
            ],
            check=True,
        )  # fmt: skip
    assert "0035" in shell_at(folder)("db", "upgrade")
    return folder


def shell_at(folder: Path) -> Shell:
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(folder)})

    def run(*arguments: object) -> str:
        return runner.invoke(parallax.cli, list(map(str, arguments)), catch_exceptions=False).output

    return run


@pytest.fixture
def shell(folder: Path) -> Shell:
    return shell_at(folder)


def app_at(folder: Path, known: dict[str, Any], hours: float) -> Flask:
    then = datetime.fromisoformat(known["built_at"]).astimezone(UTC) + timedelta(hours=hours)
    return create_app(folder, now=lambda: then)


@pytest.fixture
def app(folder: Path, known: dict[str, Any]) -> Iterator[Flask]:
    """The server, two minutes after the earlier one stopped."""
    app = app_at(folder, known, 2 / 60)
    yield app
    app.extensions["parallax"].engine.dispose()


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def row_counts(app: Flask) -> dict[str, int]:
    with app.extensions["parallax"].engine.connect() as connection:
        return {
            name: connection.scalar(text(f'SELECT count(*) FROM "{name}"'))
            for name in inspect(connection).get_table_names()
        }


def answered(app: Flask, ref: str) -> list[int]:
    """The positions of a participant's stored answers."""
    with app.extensions["parallax"].sessions() as session:
        stored = select(Trial.position).join(Response).join(Participant)
        return sorted(session.scalars(stored.where(Participant.ref == ref)))


def test_the_database_has_the_schema_of_this_version_and_all_its_rows(shell, app, known):
    assert f"the schema {revisions()[-1]}, which is the current one" in shell("db", "status")
    # The first start names the copy that may pay in a further stamp; three tables are new.
    new = {"stamp": known["rows"]["stamp"] + 1, "coder": 0, "code": 0, "frozen_coding": 0}
    assert row_counts(app) == known["rows"] | new


def test_the_runs_are_listed_as_far_as_they_had_come(shell, known):
    before, now = (
        [line.split() for line in listed.splitlines()] for listed in (known["runs"], shell("runs"))
    )
    assert now == before


def test_the_session_under_way_goes_on_and_is_judged_and_exported(shell, app, known, tmp_path):
    returning = Visitor(app.test_client(), known["open_session"])
    ref = known["open_session"].split("/")[2].split(".")[0]
    assert sorted(returning.session()["answered"]) == [1, 2, 3]
    assert returning.answer(4).status_code == 200
    assert answered(app, ref) == [1, 2, 3, 4]
    for position in range(5, 9):
        assert returning.answer(position).status_code == 200
    assert returning.questionnaire(native_language="Italian").status_code == 303
    shell("exclude", known["run"])
    shell("export", known["run"], "--out", tmp_path / "export")
    assert {row["participant"] for row in table(tmp_path / "export" / "verdicts.csv")} == {
        *known["finished"],
        ref,
    }
    responses = table(tmp_path / "export" / "responses.csv")
    assert [row["position"] for row in responses if row["participant"] == ref] == [
        str(position) for position in range(1, 9)
    ]


def test_a_newcomer_is_admitted(app, known):
    client = app.test_client()
    arrived = client.post(f"/run/{known['run']}", data={"decision": "accept"})
    assert arrived.status_code == 303
    assert len(Visitor(client, arrived.location).session()["trials"]) == 8


def test_the_export_holds_the_same_values_in_columns_of_the_same_names(
    shell, folder, known, tmp_path
):
    shell("exclude", known["run"])  # decides nothing anew
    shell("export", known["run"], "--out", tmp_path / "export")
    for name in TABLES:
        before = table(folder / "export" / f"{name}.csv")
        now = table(tmp_path / "export" / f"{name}.csv")
        columns = list(before[0]) if before else []
        assert [{column: row[column] for column in columns} for row in now] == before
    for path in (folder / "export" / "study").rglob("*.*"):
        again = tmp_path / "export" / "study" / path.relative_to(folder / "export" / "study")
        assert again.read_bytes() == path.read_bytes()


def test_the_reward_that_was_owed_is_owed_once(app, known):
    with app.extensions["parallax"].sessions.begin() as session:
        run = session.scalars(select(Run).where(Run.ref == known["paid_run"])).one()
        caps = Caps(per_participant_minor=500, per_run_minor=5_000, currency="USD")
        entries = build_reward_entries(load_accounts(session, run), 20)
        record_payments(session, run, entries, caps, datetime.now(UTC))
        [payment] = session.scalars(select(Payment)).all()
        assert payment.worker_id == known["worker"]
        assert (payment.amount_minor, payment.currency) == (20, "USD")
        assert payment.state == PaymentState.INTENDED


def test_a_backup_of_the_earlier_schema_is_refused_and_nothing_changes(shell, folder, known):
    backups = folder / "backups"
    shell("close", known["run"])
    before = shell("runs")
    with pytest.raises(SchemaError, match="the backup has the schema 0035, which is older"):
        shell(
            "db", "restore", backups / "before_the_erasure.age", "--replace", "--identity",
            backups / "identity", "--record", folder / "erasures",
        )  # fmt: skip
    assert shell("runs") == before


@pytest.mark.one_database
def test_a_session_of_a_study_without_a_server_is_imported(shell, folder, known):
    said = shell("import", "sessions", folder / "static" / "kept")
    assert "1 finished" in said
    counts = [line.split() for line in shell("runs").splitlines()]
    assert next(row for row in counts if row[3] == "yes")[6:10] == ["1", "of", "8", "1"]
