"""Whoever asked is told when Prolific's wallet holds less than what is due, once a day."""

import pytest

from tests.webapp.recruiters.balance_told import *  # noqa: F403 - fixtures
from tests.webapp.recruiters.balance_told import add, tell
from webapp.jobs.notices import Cause
from webapp.recruiters.prolific import opening
from webapp.recruitment.published import find_recruitment

pytestmark = pytest.mark.one_database


@pytest.fixture
def look(lab, here, services, told, monkeypatch):
    """Return a function that does an hour's work, and gives what was sent so far."""
    lives = []

    def opened(*_: object, live: bool, **__: object):
        lives.append(live)
        return lab.platform

    monkeypatch.setattr(opening, "open_prolific", opened)
    add(here, Cause.BALANCE)

    def work() -> list[str]:
        tell(services)
        # A live account is asked too: without this, nobody who pays real money was ever told.
        assert lives and all(lives)
        return [body["text"] for _, body in told]

    return work


def leave(stand_in, minor: int) -> None:
    """Leave so much in the wallet that no study holds back."""
    now = stand_in.control("workspace")
    with stand_in.app.extensions["prolific"].moment() as moment:
        moment.account.deposited_minor += minor - now["available_minor"]


def test_too_little_is_told_once_a_day_until_there_is_enough(lab, stand_in, look, clock):
    lab.hand_in(lab.publish())  # one person is owed 20
    leave(stand_in, 20)
    assert look() == []
    leave(stand_in, 19)
    [text] = [look() for _ in range(3)][-1]
    assert "balance is lower than what is due" in text
    assert lab.run.ref in text
    clock.go_on(days=1)
    assert len(look()) == 2
    leave(stand_in, 20)
    clock.go_on(days=1)
    assert len(look()) == 2


def test_a_platform_that_does_not_answer_is_no_news(lab, stand_in, look):
    lab.hand_in(lab.publish())
    leave(stand_in, 0)
    stand_in.faults({"kind": "server_error", "operation": "get-workspace-balance"})
    assert look() == []


def test_the_purse_of_another_account_is_no_news(lab, stand_in, look, sessions):
    lab.hand_in(lab.publish())
    leave(stand_in, 0)
    with sessions.begin() as session:
        find_recruitment(session, lab.run).endpoint = "http://127.0.0.1:1"
    assert look() == []
