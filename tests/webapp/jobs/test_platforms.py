"""What a command began on a platform is brought to its end without anybody asking again."""

from types import SimpleNamespace

import pytest
from sqlalchemy import select

from tests.webapp.payments.platform_double import LOST_REPLY, NO_CONNECTION, REFUSES, PlatformDouble
from webapp.database.engine import reading
from webapp.database.models import Assignment, Payment, Recruitment, Run
from webapp.errors import WebappError
from webapp.gate.paying_copy import mark_card_restored
from webapp.jobs.platforms import finish_payments, poll_platforms, stop_answered_runs
from webapp.payments.ledger import CLAIM_TIMEOUT
from webapp.runs.stopping import stop_run
from webapp.users.audit_log import list_audit_entries
from webapp.users.roles import Role


@pytest.fixture
def services(app, sessions, run, platform, clock, monkeypatch):
    """The installation, whose run is published on the platform."""
    with sessions.begin() as session:
        recruitment = Recruitment(run_id=run.id, endpoint="double", published_at=clock())
        recruitment.qualification_id = "TAKEN_PART"
        session.add(recruitment)
    monkeypatch.setattr("webapp.jobs.platforms.open_platform", lambda *_, **__: platform)
    return app.extensions["parallax"]


@pytest.fixture
def states(sessions):
    def read() -> list[str]:
        with reading(sessions) as session:
            return list(session.scalars(select(Payment.state).order_by(Payment.id)))

    return read


@pytest.mark.parametrize("trouble", [NO_CONNECTION, LOST_REPLY], ids=["unmade", "made"])
def test_a_payment_that_an_outage_left_is_made_once(
    services, worked, pay_rewards, platform: PlatformDouble, states, clock, trouble
):
    worked(1)
    platform.trouble("approve", trouble)
    pay_rewards()
    assert states() == ["unknown"]
    finish_payments(services)
    assert states() == ["unknown"], "the command may still be at it"
    clock.go_on(seconds=CLAIM_TIMEOUT.total_seconds() + 1)
    finish_payments(services)
    finish_payments(services)
    assert states() == ["done"]
    assert platform.approvals == ["ASSIGNMENT1"]


def test_a_refused_payment_waits_for_a_person(
    services, worked, pay_rewards, platform, states, clock
):
    worked(1)
    platform.trouble("approve", REFUSES)
    pay_rewards()
    clock.go_on(hours=1)
    finish_payments(services)
    assert states() == ["refused"]


def test_nothing_is_paid_elsewhere_than_where_the_run_was_published(
    services, worked, pay_rewards, platform, states, clock
):
    worked(1)
    platform.trouble("approve", NO_CONNECTION)
    pay_rewards()
    clock.go_on(hours=1)
    platform.endpoint = "another"
    with pytest.raises(WebappError, match="another"):
        finish_payments(services)
    assert states() == ["unknown"] and not platform.approvals


@pytest.mark.parametrize("job", [finish_payments, poll_platforms])
def test_another_account_than_the_run_s_own_is_neither_polled_nor_pays(
    services, worked, pay_rewards, platform, states, clock, sessions, monkeypatch, job
):
    worked(1)
    platform.trouble("approve", NO_CONNECTION)
    pay_rewards()
    clock.go_on(hours=1)
    with sessions.begin() as session:
        session.scalars(select(Recruitment)).one().account = "ours"
    monkeypatch.setattr(platform, "account", lambda: "a stranger's", raising=False)
    platform.trouble("state", REFUSES)
    with pytest.raises(WebappError, match="published from the account ours"):
        job(services)
    assert states() == ["unknown"] and not platform.approvals


def test_polling_learns_of_what_was_submitted(services, worked, platform, sessions, run):
    worked(1, status="active")
    poll_platforms(services)
    with reading(sessions) as session:
        assert session.scalars(select(Assignment.status)).all() == ["submitted"]


def test_a_platform_that_does_not_answer_fails_the_job_by_the_runs_name(
    services, hit, platform, run
):
    platform.trouble("state", NO_CONNECTION)
    with pytest.raises(WebappError, match=f"run {run.ref}: no connection"):
        poll_platforms(services)


def test_closed_runs_are_not_polled(services, hit, platform, sessions, run, clock):
    platform.trouble("state", NO_CONNECTION)
    with sessions.begin() as session:
        session.merge(run).closed_at = clock()
    poll_platforms(services)


def test_one_runs_surprise_does_not_keep_the_others_from_being_polled(
    services, worked, sessions, run, platform, clock, monkeypatch
):
    worked(1)
    with sessions.begin() as session:
        other = Run(
            **{c.name: getattr(run, c.name) for c in Run.__table__.columns if c.name != "id"}
            | {"ref": "another"}
        )
        session.add(other)
        session.flush()
        session.add(Recruitment(run_id=other.id, endpoint="double", published_at=clock()))
    polled = []

    def poll(_sessions, _platform, ref, _now):
        polled.append(ref)
        if ref == run.ref:
            raise ValueError("an answer that nobody foresaw")

    monkeypatch.setattr("webapp.jobs.platforms.poll_run", poll)
    with pytest.raises(WebappError, match=f"run {run.ref}: ValueError, see the log"):
        poll_platforms(services)
    assert polled == [run.ref, "another"]


def test_the_offers_of_a_stopped_run_are_hidden_once_also_after_an_outage(
    services, hit, platform, sessions, run, clock
):
    with sessions.begin() as session:
        stop_run(session, session.merge(run), clock())
    platform.posted["HIT1"] = (None, "", SimpleNamespace(places=9))
    platform.trouble("state", NO_CONNECTION)
    with pytest.raises(WebappError, match=f"run {run.ref}: no connection"):
        stop_answered_runs(services)
    stop_answered_runs(services)
    stop_answered_runs(services)
    with reading(sessions) as session:
        acts = [entry.act for entry in list_audit_entries(session, run.ref)]
    assert acts == ["run stopped by its rule", "recruitment paused by the stopping rule"]
    assert platform.calls.count("expire") == 1


def test_a_restored_copy_hides_nothing_and_pays_nothing_and_its_page_says_what_waits(
    services, hit, platform, sessions, run, clock, worked, pay_rewards, states, researcher
):
    worked(1)
    platform.trouble("approve", NO_CONNECTION)
    pay_rewards()
    clock.go_on(hours=1)
    platform.posted["HIT1"] = (None, "", SimpleNamespace(places=9))
    with sessions.begin() as session:
        stop_run(session, session.merge(run), clock())
    mark_card_restored(services.instance)
    calls = list(platform.calls)
    stop_answered_runs(services)
    finish_payments(services)
    assert platform.calls == calls and states() == ["unknown"]
    page = researcher(Role.OWNER).get(f"/runs/{run.ref}").text
    assert "offers are not hidden on" in page
    assert "does not have the right to pay and publish" in page
    assert "parallax paying-copy show" in page


def test_the_page_of_a_stopped_run_says_that_its_offers_are_not_hidden_until_they_are(
    services, hit, platform, sessions, run, clock, researcher
):
    platform.posted["HIT1"] = (None, "", SimpleNamespace(places=9))
    with sessions.begin() as session:
        stop_run(session, session.merge(run), clock())
    here = researcher(Role.OWNER)
    page = here.get(f"/runs/{run.ref}").text
    assert "The server tries every minute" in page and "right to pay" not in page
    stop_answered_runs(services)
    assert "not hidden" not in here.get(f"/runs/{run.ref}").text
