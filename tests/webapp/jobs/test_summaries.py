"""The job that summarises sessions: when there are new answers, and in a process of its own."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from webapp.database.models import RunSummary, SessionSummary
from webapp.errors import WebappError
from webapp.jobs import housekeeping
from webapp.jobs.housekeeping import list_runs_to_summarise, summarise_runs
from webapp.services import EXTENSION


@pytest.fixture
def services(app):
    return app.extensions[EXTENSION]


def test_a_run_is_summarised_once_for_the_answers_that_it_has(services, run, start, sessions):
    assert list_runs_to_summarise(services) == []
    start(run).answer_all()
    assert list_runs_to_summarise(services) == [run.ref]
    summarise_runs(services)
    with sessions() as session:
        assert session.scalars(select(SessionSummary.answered)).all() == [8]
    assert list_runs_to_summarise(services) == []


def test_a_run_that_takes_long_waits_twenty_times_as_long(services, run, start, sessions, clock):
    start(run).answer_all()
    with sessions.begin() as session:
        session.add(RunSummary(run_id=run.id, made_at=clock(), took_s=30.0, responses=1))
    assert list_runs_to_summarise(services) == []
    clock.time += timedelta(minutes=10)
    assert list_runs_to_summarise(services) == [run.ref]


def test_what_went_wrong_is_told(services, run, start, monkeypatch):
    start(run).answer_all()
    monkeypatch.setattr(housekeeping, "list_runs_to_summarise", lambda _: ["nosuchrun"])
    with pytest.raises(WebappError, match=r"run nosuchrun: .*there is no run"):
        summarise_runs(services)
