"""The gate: what one check forbids is not done by any way in, and is said where people look."""

import pytest
from sqlalchemy import select

from tests.webapp.payments.conftest import (  # noqa: F401 - fixtures
    hit,
    pay_rewards,
    platform,
    worked,
)
from webapp import create_app
from webapp.commands.doctor import CHECKS as DOCTORS_CHECKS
from webapp.commands.doctor.findings import Installation, Level
from webapp.core.clock import utc_now
from webapp.database.engine import reading
from webapp.database.models import Participant, Payment
from webapp.gate import gate
from webapp.gate.gate import GateError, find_blockers
from webapp.gate.installation import Blocker, Operation
from webapp.runs.export import export_run
from webapp.server.private_port import check_readiness


@pytest.fixture
def forbid(monkeypatch):
    """Return a function that makes a check forbid some acts."""

    def object_(*acts: Operation) -> None:
        found = [Blocker("the ledger is old", "Reconcile", frozenset(acts))]
        monkeypatch.setattr(gate, "CHECKS", {"example": lambda _connection, _installation: found})

    return object_


def test_nobody_new_is_admitted_and_who_is_there_goes_on(client, run, start, forbid, sessions):
    visitor = start(run)
    visitor.answer(1)
    forbid(Operation.ADMIT)
    shown = client.get(f"/run/{run.ref}")
    assert (shown.status_code, "the ledger is old" in shown.text) == (503, False)
    agreed = client.post(f"/run/{run.ref}", data={"decision": "accept"})
    assert agreed.status_code == 503
    with reading(sessions) as session:
        assert len(session.scalars(select(Participant)).all()) == 1
    visitor.answer(2)
    forbid(Operation.PAY)
    assert client.get(f"/run/{run.ref}").status_code == 200


def test_nothing_is_paid_and_nothing_is_written_down_to_be_paid(
    run,
    worked,  # noqa: F811
    pay_rewards,  # noqa: F811
    sessions,
    forbid,
):
    worked(1)
    forbid(Operation.PAY)
    with pytest.raises(GateError, match=r"does not pay now: the ledger is old\. Reconcile\."):
        pay_rewards()
    with reading(sessions) as session:
        assert session.scalars(select(Payment)).all() == []
    forbid(Operation.ADMIT, Operation.PUBLISH)
    pay_rewards()
    with reading(sessions) as session:
        assert len(session.scalars(select(Payment)).all()) == 1


def test_nothing_is_exported(run, start, forbid, sessions, tmp_path):
    start(run).answer(1)
    forbid(Operation.EXPORT)
    with reading(sessions) as session, pytest.raises(GateError, match="does not export now"):
        export_run(session, run, tmp_path / "export")
    assert not (tmp_path / "export").exists()


def test_the_doctor_and_readyz_say_it(app, instance, forbid):
    services = app.extensions["parallax"]
    at = Installation(instance, services.settings, services.engine, "", utc_now)
    [found] = DOCTORS_CHECKS["gate"](at)
    assert found.level is Level.GOOD
    assert check_readiness(instance, app)["problems"] == []
    forbid(Operation.PAY, Operation.ADMIT)
    [found] = DOCTORS_CHECKS["gate"](at)
    assert found.level is Level.FAULT
    assert found.text == (
        "example: the ledger is old. Until this is corrected, the server does not pay, take new"
        " participants"
    )
    assert check_readiness(instance, app)["problems"] == ["the ledger is old"]


def test_a_database_that_was_opened_without_its_installation_passes_nothing(sessions):
    with reading(sessions) as session:
        connection = session.connection()
        installation = connection.dialect.parallax_installation
        del connection.dialect.parallax_installation
        with pytest.raises(GateError, match="without the installation"):
            list(find_blockers(connection))
        connection.dialect.parallax_installation = installation


def test_a_lost_record_of_erasures_forbids_everything_until_it_is_back(
    run, start, sessions, instance, client
):
    visitor = start(run)
    visitor.answer(1)
    client.post(f"{visitor.home}withdraw", data={"wish": "erase"})
    with reading(sessions) as session:
        assert list(find_blockers(session.connection())) == []
    (instance / "erasures").rename(instance / "elsewhere")
    with reading(sessions) as session:
        [(name, found)] = find_blockers(session.connection())
        assert (name, found.forbids) == ("erasures", frozenset(Operation))
    (instance / "elsewhere").rename(instance / "erasures")
    with reading(sessions) as session:
        assert list(find_blockers(session.connection())) == []


def test_another_installation_s_record_forbids_everything_until_one_s_own_is_back(
    run, start, sessions, instance, client, tmp_path
):
    visitor = start(run)
    client.post(f"{visitor.home}withdraw", data={"wish": "erase"})
    own, other = (instance / "erasures").read_bytes(), tmp_path / "other"
    create_app(other).extensions["parallax"].engine.dispose()
    (instance / "erasures").write_bytes((other / "erasures").read_bytes())
    with reading(sessions) as session:
        [(name, found)] = find_blockers(session.connection())
        assert (name, found.forbids) == ("erasures", frozenset(Operation))
        assert "belongs to another installation" in found.problem
    (instance / "erasures").write_bytes(own)
    with reading(sessions) as session:
        assert list(find_blockers(session.connection())) == []
