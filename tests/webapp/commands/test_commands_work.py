"""The periodic jobs from the shell."""

import pytest

from webapp.errors import WebappError
from webapp.jobs import periodic_queue as queue


@pytest.fixture(autouse=True)
def log_stays_where_it_is(monkeypatch):
    monkeypatch.setattr("webapp.commands.serve.write_logs", lambda *_: None)


def test_work_does_every_job_once(shell):
    assert shell("work", "--once") == f"Done: {', '.join(queue.PERIODIC_JOBS)}.\n"


@pytest.mark.one_database
def test_a_job_that_fails_fails_the_command(shell, monkeypatch):
    broken = queue.PeriodicJob(60, lambda services: 1 / 0)
    monkeypatch.setattr("webapp.commands.serve.PERIODIC_JOBS", {"broken": broken})
    with pytest.raises(WebappError, match=r"broken failed\. The log above says why"):
        shell("work", "--once")
