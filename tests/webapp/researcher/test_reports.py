"""A run's reports: asked for, read, shared, and gone once somebody takes their data back."""

import re

import pytest
from sqlalchemy import delete, select

from webapp.database.models import Answer, Participant, Unblinding
from webapp.jobs.long_jobs import (
    Jobs,
    JobState,
    Step,
    is_up_to_date,
    remove_outdated_reports,
    store_participant_marks,
)
from webapp.privacy.amendments import apply_corrections, release_use, restrict_use
from webapp.runs.blinding import unblind_run
from webapp.sessions.leave import Wish, withdraw
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database

_RESULT = '<p>the result</p><a href="methods.html"></a><script>alert(1)</script>'


@pytest.fixture
def here(researcher):
    return researcher(Role.RESEARCHER)


@pytest.fixture
def person(run, start):
    """Somebody who answered before the report was made."""
    visitor = start(run)
    visitor.answer(1, "first")
    return visitor


@pytest.fixture
def report(run, person, sessions, here, app, instance, clock):
    """A report that a job has made of one person's data: its id."""
    assert here.post(f"/runs/{run.ref}/reports").status_code == 409
    with sessions.begin() as session:
        unblind_run(session, run, by="a test", reason="the test looks", now=clock())
    assert here.post(f"/runs/{run.ref}/reports").status_code == 303
    [job] = Jobs(instance).list_jobs(run.ref)
    assert job.state is JobState.WAITING
    assert here.get(f"/runs/{run.ref}/reports/read?report={job.id}").status_code == 409
    store_participant_marks(app.extensions["parallax"], job.id)
    folder = Jobs(instance).folder(job.id) / "report"
    folder.mkdir()
    (folder / "report.html").write_text(_RESULT, "utf-8")
    (folder / "methods.html").write_text('<p>the methods</p><a href="report.html">', "utf-8")
    Jobs(instance).change(job.id, state=JobState.DONE)
    return job.id


def test_a_report_is_read_in_a_cage_and_by_its_link_until_that_is_ended(report, run, here, browser):
    read = here.get(f"/runs/{run.ref}/reports/read?report={report}")
    policy = read.headers["Content-Security-Policy"]
    assert "the result" in read.text
    assert "sandbox" in policy and "script" not in policy
    link = link_in(here.post(f"/runs/{run.ref}/reports/share", report=report).text)
    stranger = browser()
    assert "the result" in stranger.get(link).text
    for wrong in (f"{link}x", f"/shared?report={report}", "/shared?report=..&link=x", "/shared"):
        assert stranger.get(wrong).status_code == 404
    here.post(f"/runs/{run.ref}/reports/unshare", report=report)
    assert stranger.get(link).status_code == 404


def test_a_reports_methods_are_read_by_their_link_and_lead_back(report, run, here):
    read = here.get(f"/runs/{run.ref}/reports/read?report={report}")
    [address] = re.findall('href="[^"]*?(/runs/[^"]+)"', read.text)
    methods = here.get(address.replace("&amp;", "&"))
    assert "the methods" in methods.text
    [back] = re.findall('href="[^"]*?(/runs/[^"]+)"', methods.text)
    assert "the result" in here.get(back.replace("&amp;", "&")).text
    for wrong in ("checklist", "../job"):
        none = here.get(f"/runs/{run.ref}/reports/read?report={report}&page={wrong}")
        assert none.status_code == 404 and "The report has no such page." in none.text


def link_in(page: str) -> str:
    """The link that a page shows once."""
    return re.search(r"(/shared\?[^<]+)</code>", page)[1].replace("&amp;", "&")


def one_of(session) -> Participant:
    """Whoever came first."""
    return session.scalars(select(Participant).order_by(Participant.id)).first()


def of_withdrawing(wish):
    return lambda session, person, now, record: withdraw(session, person, wish, now, record)


def of_correcting(session, person, now, record):
    session.add(Answer(participant_id=person.id, field="comments", value="it was fun"))
    apply_corrections(session, person, {"comments": "it was not"}, now)


@pytest.mark.parametrize(
    "wish",
    [of_withdrawing(Wish.KEEP), of_withdrawing(Wish.ERASE), restrict_use, of_correcting],
    ids=["keep", "erase", "restrict", "correct"],
)
def test_a_report_is_gone_once_somebody_changes_what_it_stands_on(
    wish, report, run, start, here, app, instance, browser
):
    services = app.extensions["parallax"]
    start(run)  # who came later does not hide it
    page, stranger = here.post(f"/runs/{run.ref}/reports/share", report=report).text, browser()
    link = link_in(page)
    assert stranger.get(link).status_code == 200
    with services.sessions.begin() as session:
        wish(session, one_of(session), services.now(), services.record)
    gone = stranger.get(link)
    assert gone.status_code == 410
    assert "corrected their data since this report was made, so it was deleted. Make" in gone.text
    assert here.get(f"/runs/{run.ref}/reports/read?report={report}").status_code == 404
    assert not Jobs(instance).folder(report).exists()


def test_nobody_s_permission_makes_up_for_another_s_erasure(run, start, app, instance):
    """One was restricted while the report was made, and allows it since; the other erases."""
    services, jobs = app.extensions["parallax"], Jobs(instance)
    for _ in range(2):
        start(run)
    with services.sessions.begin() as session:
        restrict_use(session, one_of(session), services.now(), services.record)
    job = jobs.add(run.ref, "People", "a test", services.now(), [Step("", ("compare",))])
    store_participant_marks(services, job.id)
    job = jobs.change(job.id, state=JobState.DONE)
    with services.sessions.begin() as session:
        release_use(session, one_of(session), services.now(), services.record)
        assert is_up_to_date(session, jobs, job)
        other = session.scalars(select(Participant).order_by(Participant.id.desc())).first()
        withdraw(session, other, Wish.ERASE, services.now(), services.record)
        assert not is_up_to_date(session, jobs, job)


def test_who_kept_their_answers_and_erases_them_later_is_in_no_report(run, start, app, instance):
    services, jobs = app.extensions["parallax"], Jobs(instance)
    start(run)
    with services.sessions.begin() as session:
        withdraw(session, one_of(session), Wish.KEEP, services.now(), services.record)
    job = jobs.add(run.ref, "People", "a test", services.now(), [Step("", ("compare",))])
    store_participant_marks(services, job.id)
    # Somebody who came after the job had begun, and before it exported the run.
    start(run)
    with services.sessions.begin() as session:
        later = session.scalars(select(Participant).order_by(Participant.id.desc())).first()
        jobs.add_marks(job.id, [later.ref])
    job = jobs.change(job.id, state=JobState.DONE)
    for person in (one_of, lambda session: session.get_one(Participant, later.id)):
        with services.sessions() as session:
            assert is_up_to_date(session, jobs, job)
            withdraw(session, person(session), Wish.ERASE, services.now(), services.record)
            assert not is_up_to_date(session, jobs, job)


def test_a_report_whose_run_is_blind_again_is_shown_to_nobody(report, run, here, browser, sessions):
    link = link_in(here.post(f"/runs/{run.ref}/reports/share", report=report).text)
    with sessions.begin() as session:  # as a backup from before would have it
        session.execute(delete(Unblinding))
    for path in ("read", "download"):
        assert here.get(f"/runs/{run.ref}/reports/{path}?report={report}").status_code == 409
    assert browser().get(link).status_code == 409


def test_a_job_that_waits_is_cancelled_and_deleted(report, run, here, instance):
    here.post(f"/runs/{run.ref}/reports")
    waiting = next(job for job in Jobs(instance).list_jobs(run.ref) if job.id != report)
    here.post(f"/runs/{run.ref}/reports/cancel", report=waiting.id)
    assert Jobs(instance).find(waiting.id).state is JobState.CANCELLED
    here.post(f"/runs/{run.ref}/reports/delete", report=waiting.id)
    assert [job.id for job in Jobs(instance).list_jobs(run.ref)] == [report]


def test_what_a_job_left_whose_server_died_is_removed(report, run, app, clock, instance):
    jobs = Jobs(instance)
    jobs.change(report, state=JobState.WORKING, alive_at=clock().isoformat())
    answers = jobs.folder(report) / "run"
    answers.mkdir()
    remove_outdated_reports(app.extensions["parallax"])
    assert answers.exists()
    clock.go_on(minutes=3)
    remove_outdated_reports(app.extensions["parallax"])
    assert (jobs.find(report).state, answers.exists()) == (JobState.FAILED, False)


def test_a_report_that_is_being_made_ends_with_what_it_stands_on(report, run, app, clock, instance):
    jobs, services = Jobs(instance), app.extensions["parallax"]
    jobs.change(report, state=JobState.WORKING, alive_at=clock().isoformat())
    with services.sessions.begin() as session:
        withdraw(session, one_of(session), Wish.ERASE, services.now(), services.record)
    remove_outdated_reports(services)
    assert not jobs.folder(report).exists()
