"""What a command began on a platform is brought to its end without anybody asking again."""

import pytest
from platform_double import LOST_REPLY, NO_CONNECTION, REFUSES, PlatformDouble
from sqlalchemy import select

from webapp.db import reading
from webapp.errors import WebappError
from webapp.flow.ledger import IN_HAND
from webapp.jobs.platforms import finish_payments, poll_platforms
from webapp.models import Assignment, Payment, Recruitment


@pytest.fixture
def own(app, sessions, run, platform, clock, monkeypatch):
    """The installation, whose run is published on the platform."""
    with sessions.begin() as session:
        recruitment = Recruitment(run_id=run.id, endpoint="double", published_at=clock())
        recruitment.qualification_id = "TAKEN_PART"
        session.add(recruitment)
    monkeypatch.setattr("webapp.jobs.platforms.open_platform", lambda *_: platform)
    return app.extensions["parallax"]


@pytest.fixture
def states(sessions):
    def read() -> list[str]:
        with reading(sessions) as session:
            return list(session.scalars(select(Payment.state).order_by(Payment.id)))

    return read


@pytest.mark.parametrize("trouble", [NO_CONNECTION, LOST_REPLY], ids=["unmade", "made"])
def test_a_payment_that_an_outage_left_is_made_once(
    own, worked, pay_rewards, platform: PlatformDouble, states, clock, trouble
):
    worked(1)
    platform.trouble("approve", trouble)
    pay_rewards()
    assert states() == ["unknown"]
    finish_payments(own)
    assert states() == ["unknown"], "the command may still be at it"
    clock.go_on(seconds=IN_HAND.total_seconds() + 1)
    finish_payments(own)
    finish_payments(own)
    assert states() == ["done"]
    assert platform.approvals == ["ASSIGNMENT1"]


def test_a_refused_payment_waits_for_a_person(own, worked, pay_rewards, platform, states, clock):
    worked(1)
    platform.trouble("approve", REFUSES)
    pay_rewards()
    clock.go_on(hours=1)
    finish_payments(own)
    assert states() == ["refused"]


def test_nothing_is_paid_elsewhere_than_where_the_run_was_published(
    own, worked, pay_rewards, platform, states, clock
):
    worked(1)
    platform.trouble("approve", NO_CONNECTION)
    pay_rewards()
    clock.go_on(hours=1)
    platform.endpoint = "another"
    with pytest.raises(WebappError, match="another"):
        finish_payments(own)
    assert states() == ["unknown"] and not platform.approvals


def test_polling_learns_of_what_was_submitted(own, worked, platform, sessions, run):
    worked(1, status="accepted")
    poll_platforms(own)
    with reading(sessions) as session:
        assert session.scalars(select(Assignment.status)).all() == ["submitted"]


def test_a_platform_that_does_not_answer_fails_the_job_by_the_runs_name(own, hit, platform, run):
    platform.trouble("state", NO_CONNECTION)
    with pytest.raises(WebappError, match=f"run {run.ref}: no connection"):
        poll_platforms(own)


def test_closed_runs_are_not_polled(own, hit, platform, sessions, run, clock):
    platform.trouble("state", NO_CONNECTION)
    with sessions.begin() as session:
        session.merge(run).closed_at = clock()
    poll_platforms(own)
