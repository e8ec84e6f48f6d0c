"""Endings of which our server tells a panel: owed at once, sent later, never twice unasked."""

import json

import pytest
from click.testing import CliRunner
from sqlalchemy import select

import parallax
from experiment.participation import Ending
from tests.webapp.jobs.conftest import GRANTED
from webapp.core.settings import Settings
from webapp.database.engine import reading
from webapp.database.models import Participant
from webapp.errors import WebappError
from webapp.jobs.platforms import send_reports
from webapp.recruitment.reports import ReportState, requeue_reports

pytestmark = pytest.mark.one_database


@pytest.fixture
def instance(tmp_path):
    folder = tmp_path / "instance"
    folder.mkdir()
    (folder / "parallax.toml").write_text('[panel.secrets]\ncredit_token = "s3cret"\n')
    return folder


def test_the_report_is_owed_with_the_ending_and_sent_by_the_job_alone(
    finish, panel, services, stored
):
    finish()
    assert (panel.asked, stored().state, stored().ending) == ([], "waiting", Ending.COMPLETED)
    send_reports(services)
    send_reports(services)
    assert panel.asked == [
        "/services/SonaAPI.svc/WebstudyCredit?experiment_id=123&credit_token=s3cret&survey_code=77"
    ]
    assert (stored().state, stored().answer) == ("done", f"200 {GRANTED}")


@pytest.mark.parametrize("erased", ["answered", "finished"])
def test_whoever_did_all_the_work_and_had_it_erased_gets_the_credit(
    finish, panel, services, stored, erased
):
    finish(erased=erased)
    send_reports(services)
    assert len(panel.asked) == 1
    assert (stored().state, stored().ending) == ("done", Ending.COMPLETED)


@pytest.mark.parametrize(
    "silence", [None, (500, "down"), (429, "wait"), (200, GRANTED[:40]), (200, "")]
)
def test_after_silence_the_credit_is_asked_for_again_with_growing_pauses(
    finish, panel, services, stored, clock, silence
):
    panel.answers = [silence, silence]
    finish()
    for minutes, calls in ((0, 1), (0.5, 1), (1, 2), (1, 2), (2, 3)):
        clock.go_on(minutes=minutes)
        send_reports(services)
        assert len(panel.asked) == calls
    assert (stored().state, stored().tries) == ("done", 3)


def test_a_refusal_is_kept_without_the_secret_and_is_sent_again_when_somebody_says_so(
    finish, panel, services, stored, sessions, clock
):
    panel.answers = [(200, "<Errors>Invalid credit_token s3cret</Errors>")]
    run = finish()
    send_reports(services)
    assert stored().state == "refused"
    assert stored().answer == "200 <Errors>Invalid credit_token (secret)</Errors>"
    clock.go_on(days=1)
    send_reports(services)
    assert len(panel.asked) == 1
    recruiter = services.recruiter("panel")
    with sessions.begin() as session:
        frozen = services.study_of(session, run)
        assert requeue_reports(session, run, recruiter, frozen, clock(), also_unsafe=True) == 1
    send_reports(services)
    assert (stored().state, len(panel.asked)) == ("done", 2)


def test_a_refused_credit_that_a_person_granted_on_the_panels_pages_is_noted_once(
    finish, panel, services, stored, instance
):
    def reconcile(*more: str):
        return CliRunner().invoke(
            parallax.cli, ["reconcile", run.ref, *more, "--instance", str(instance)]
        )

    panel.answers = [(200, "<Errors>Invalid experiment_id</Errors>")]
    run = finish()
    with reading(services.sessions) as session:
        ref = session.scalars(select(Participant.ref)).one()
    assert "is sent automatically. Wait until it is done, refused" in str(
        reconcile("--by-hand", ref).exception
    )
    send_reports(services)
    assert "--by-hand" in reconcile().output
    assert "no ending of" in str(reconcile("--by-hand", "x").exception)
    for _ in range(2):
        noted = reconcile("--by-hand", ref)
        assert (noted.exit_code, "is clean" in noted.output) == (0, True)
    assert stored().state == "done"
    assert stored().answer == (
        "confirmed by hand (before: refused: 200 <Errors>Invalid experiment_id</Errors>)"
    )
    assert len(panel.asked) == 1


def test_credit_that_an_earlier_call_had_granted_is_done(finish, panel, services, stored):
    panel.answers = [(400, "<Errors>You have already received credit for this study.</Errors>")]
    finish()
    send_reports(services)
    assert stored().state == "done"


def test_what_must_not_be_told_twice_is_left_to_a_person_after_silence(
    finish, panel, services, stored, sessions, clock
):
    panel.answers = [None]
    run = finish("[panel.endings.completed.report]\nrepeatable = false")
    send_reports(services)
    assert stored().state == "unknown"
    clock.go_on(days=3)
    send_reports(services)
    assert len(panel.asked) == 1
    recruiter = services.recruiter("panel")
    with sessions.begin() as session:
        frozen = services.study_of(session, run)
        assert requeue_reports(session, run, recruiter, frozen, clock(), also_unsafe=True) == 1


def test_a_process_that_dies_in_the_middle_repeats_only_what_may_be_repeated(
    finish, panel, services, stored, clock, monkeypatch
):
    def die(*_: object) -> str:
        raise KeyboardInterrupt

    finish("[panel.endings.completed.report]\nrepeatable = false")
    with monkeypatch.context() as patch:
        patch.setattr("webapp.recruiters.panel.recruiter.send_report", die)
        with pytest.raises(KeyboardInterrupt):
            send_reports(services)
    clock.go_on(days=1)
    send_reports(services)
    assert (panel.asked, stored().state) == ([], ReportState.SENDING)


def test_the_last_of_many_tries_leaves_it_to_a_person(finish, panel, services, stored, clock):
    panel.answers = [None] * 3
    finish("report_tries = 2")
    for _ in range(3):
        send_reports(services)
        clock.go_on(hours=7)
    assert (stored().state, stored().tries, len(panel.asked)) == ("unknown", 2, 2)


def test_an_installation_without_the_secret_says_so_and_sends_it_later(
    finish, panel, services, stored, clock
):
    finish()
    kept, services.settings = services.settings, Settings()
    services._recruiters.clear()
    with pytest.raises(WebappError, match='no secret "credit_token"'):
        send_reports(services)
    services.settings = kept
    services._recruiters.clear()
    clock.go_on(hours=1)
    send_reports(services)
    assert stored().state == "done"


def test_a_post_sends_fields_and_headers_and_an_answer_of_json_is_read(
    finish, panel, services, stored
):
    panel.answers = [(200, json.dumps({"status": "ok"}))]
    finish(
        '[panel.endings.completed.report]\nmethod = "POST"\naddress = "{site}/done"\n'
        'fields = { who = "{survey_code}", proof = "{receipt}" }\nformat = "json"\n'
        'headers = { Authorization = "Bearer {credit_token}" }\ndone = \'"status": *"ok"\''
    )
    send_reports(services)
    assert stored().state == "done"
    [asked] = panel.asked
    assert asked.startswith('/done{"who":"77","proof":"')
