"""Whoever asked is told when Mechanical Turk's balance is less than what is due."""

import pytest

from marketplace.mturk import create_marketplace
from marketplace.serving import serve_in_thread
from tests.webapp.recruiters.balance_told import *  # noqa: F403 - fixtures
from tests.webapp.recruiters.balance_told import add, tell
from webapp.jobs.notices import Cause
from webapp.recruiters.mturk import client as mturk_client

pytestmark = pytest.mark.one_database
COSTS_CENTS = 192  # of the run's eight places, with the fee


@pytest.fixture
def endpoint(tmp_path):
    """A marketplace where the requester has just enough to publish."""
    app = create_marketplace(tmp_path / "marketplace", balance_cents=COSTS_CENTS)
    with serve_in_thread(app) as url:
        yield url
    app.extensions["marketplace"].engine.dispose()


def test_what_publishing_left_too_small_is_told_until_money_is_put_in(
    publish_run,
    worker,
    control,
    platform,
    here,
    services,
    told,
    monkeypatch,
):
    monkeypatch.setattr(mturk_client, "open_client", lambda _endpoint: platform)
    add(here, Cause.BALANCE)
    publish_run()
    assert platform.balance_minor() == 0
    tell(services)
    assert told == []  # nobody is at work
    one = worker()
    one.consent(one.accept())
    for _ in range(2):
        tell(services)
    [(_, body)] = told
    assert "balance is lower than what is due" in body["text"]
    assert one.worker_id not in body["text"]
