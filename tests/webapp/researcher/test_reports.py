"""A run's reports: asked for, read, shared, and gone once somebody takes their data back."""

import re

import pytest
from sqlalchemy import select

from experiment.participation import State
from webapp.database.models import Participant
from webapp.long_jobs.outdated import remove_outdated_reports
from webapp.long_jobs.records import Jobs, JobState
from webapp.runs.unblind import unblind
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database


@pytest.fixture
def here(researcher):
    return researcher(Role.RESEARCHER)


@pytest.fixture
def report(run, start, sessions, here, instance, clock):
    """A report that a job has made of one person's data: its id."""
    start(run).answer(1, "first")
    assert here.post(f"/runs/{run.ref}/reports").status_code == 409
    with sessions.begin() as session:
        unblind(session, run, by="a test", reason="the test looks", now=clock())
    assert here.post(f"/runs/{run.ref}/reports").status_code == 303
    [job] = Jobs(instance).about(run.ref)
    assert (job.basis, job.state) == (1, JobState.WAITING)
    assert here.get(f"/runs/{run.ref}/reports/read?report={job.id}").status_code == 409
    folder = Jobs(instance).folder(job.id) / "report"
    folder.mkdir()
    (folder / "report.html").write_text("<p>the result</p><script>alert(1)</script>", "utf-8")
    Jobs(instance).changed(job.id, state=JobState.DONE)
    return job.id


def test_a_report_is_read_in_a_cage_and_by_its_link_until_that_is_ended(report, run, here, browser):
    read = here.get(f"/runs/{run.ref}/reports/read?report={report}")
    policy = read.headers["Content-Security-Policy"]
    assert "the result" in read.text
    assert "sandbox" in policy and "script" not in policy
    page = here.post(f"/runs/{run.ref}/reports/share", report=report).text
    link = re.search(r"(/shared\?[^<]+)</code>", page)[1].replace("&amp;", "&")
    stranger = browser()
    assert "the result" in stranger.get(link).text
    for wrong in (f"{link}x", f"/shared?report={report}", "/shared?report=..&link=x", "/shared"):
        assert stranger.get(wrong).status_code == 404
    here.post(f"/runs/{run.ref}/reports/unshare", report=report)
    assert stranger.get(link).status_code == 404


def test_a_report_is_gone_once_somebody_withdraws(report, run, start, here, sessions, instance):
    start(run)  # who came later does not hide it
    with sessions.begin() as session:
        session.scalars(
            select(Participant).order_by(Participant.id)
        ).first().state = State.WITHDRAWN
    assert here.get(f"/runs/{run.ref}/reports/read?report={report}").status_code == 410
    assert not Jobs(instance).folder(report).exists()


def test_a_job_that_waits_is_cancelled_and_deleted(report, run, here, instance):
    here.post(f"/runs/{run.ref}/reports")
    waiting = next(job for job in Jobs(instance).about(run.ref) if job.id != report)
    here.post(f"/runs/{run.ref}/reports/cancel", report=waiting.id)
    assert Jobs(instance).job(waiting.id).state is JobState.CANCELLED
    here.post(f"/runs/{run.ref}/reports/delete", report=waiting.id)
    assert [job.id for job in Jobs(instance).about(run.ref)] == [report]


def test_what_a_job_left_whose_server_died_is_removed(report, run, app, clock, instance):
    jobs = Jobs(instance)
    jobs.changed(report, state=JobState.WORKING, alive_at=clock().isoformat())
    answers = jobs.folder(report) / "run"
    answers.mkdir()
    remove_outdated_reports(app.extensions["parallax"])
    assert answers.exists()
    clock.go_on(minutes=3)
    remove_outdated_reports(app.extensions["parallax"])
    assert (jobs.job(report).state, answers.exists()) == (JobState.FAILED, False)
