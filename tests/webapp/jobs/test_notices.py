"""Researchers are told once of what happened to runs that they see, and nothing of anybody."""

import json
from itertools import pairwise

import pytest
from sqlalchemy import func, select

from webapp.core.settings import Settings
from webapp.database.models import Notice, Notification, Participant, Payment, Place, User
from webapp.jobs import delivery, notices
from webapp.jobs.delivery import DeliveryError
from webapp.jobs.housekeeping import check_platform_balances, notify_researchers
from webapp.jobs.long_jobs import Jobs, JobState
from webapp.jobs.notices import Cause
from webapp.users.roles import Role

HOOK = "https://hooks.example.org/services/the-secret"


@pytest.fixture
def here(researcher):
    return researcher(Role.RESEARCHER)


@pytest.fixture(autouse=True)
def every_name_is_known(monkeypatch):
    monkeypatch.setattr(delivery, "resolve_host", lambda *_: ["8.8.8.8"])


@pytest.fixture
def told(monkeypatch):
    """What was sent, as (address, body)."""
    sent = []
    monkeypatch.setattr(notices, "send_webhook", lambda url, body: sent.append((url, body)))
    return sent


@pytest.fixture
def services(app):
    return app.extensions["parallax"]


def add(here, *causes: Cause, address: str = HOOK, quiet: str = "30"):
    data = {"form_token": here.form_token(), "address": address, "quiet": quiet}
    return here.client.post("/researcher/notifications", data=data | {"cause": list(causes)})


def test_a_quiet_run_is_told_once_until_somebody_answers(run, start, here, told, services, clock):
    assert add(here, Cause.QUIET, quiet="20").status_code == 303
    visitor = start(run)
    visitor.answer(1)
    clock.go_on(minutes=19)
    notify_researchers(services)
    assert told == []
    clock.go_on(minutes=1)
    for _ in range(3):
        notify_researchers(services)
    [(url, body)] = told
    assert url == HOOK
    assert "1 at work, and no answer for 20 minutes." in body["text"]
    assert f"/researcher/runs/{run.ref}" in body["text"]
    visitor.answer(2)
    clock.go_on(minutes=25)
    notify_researchers(services)
    assert len(told) == 2


def test_what_is_told_names_nobody(run, start, here, told, services, clock, sessions):
    add(here, *Cause)
    start(run).answer_all()
    clock.go_on(hours=1)
    with sessions.begin() as session:
        [person] = session.scalars(select(Participant))
        person.platform_id = "WORKER-AT-A-PLATFORM"
        session.add(
            Payment(
                run_id=run.id, participant_id=person.id, worker_id="WORKER-AT-A-PLATFORM",
                kind="bonus", amount_minor=5, reason="their reason", token="t", state="unknown",
                made_at=services.now(), answer="",
            )
        )  # fmt: skip
    clock.go_on(hours=1)
    notify_researchers(services)
    said = json.dumps(told)
    assert "1 payment has waited" in said and "at work, and no answer" in said
    for mark in ("WORKER", "their reason", person.ref, person.code):
        assert mark not in said


@pytest.mark.one_database
def test_complete_recruitment_and_ended_jobs_are_told(
    run, start, here, told, services, clock, instance
):
    add(here, Cause.COMPLETE, Cause.JOB)
    job = Jobs(instance).add(run.ref, "People and an LSTM", "researcher", clock(), [])
    with services.sessions() as session:
        places = session.scalar(select(func.count()).select_from(Place))
    for _ in range(places):
        visitor = start(run)
        visitor.answer_all()
        visitor.questionnaire(native_language="x")
    notify_researchers(services)
    Jobs(instance).change(job.id, state=JobState.FAILED, text="why")
    notify_researchers(services)
    texts = [body["text"].splitlines()[0] for _, body in told]
    assert any("places are finished" in text for text in texts), texts
    assert texts[-1].endswith('"People and an LSTM" failed.')
    assert len(texts) == 2


@pytest.mark.one_database
def test_a_failure_is_tried_again_and_then_given_up(
    run, here, services, clock, sessions, monkeypatch
):
    add(here, Cause.QUIET)
    tries = []

    def fails(url: str, body: object) -> None:
        tries.append(services.now())
        raise DeliveryError("it answered with the status 500")

    monkeypatch.setattr(notices, "send_webhook", fails)
    with sessions() as session:
        number = str(session.scalar(select(Notification.id)))
    for _ in range(2):  # pressed twice within a minute
        assert here.post("/notifications/test", number=number).status_code == 303
    assert tries == []  # no request waits for somebody else's server
    for _ in range(400):
        notify_researchers(services)
        clock.go_on(minutes=1)
    waited = [round((b - a).total_seconds() / 60) for a, b in pairwise(tries)]
    assert waited == [1, 5, 20, 60, 240]
    page = here.get("/notifications").text
    assert "given up" in page and "status 500" in page and "the-secret" not in page


@pytest.mark.one_database
def test_only_whoever_sees_a_run_is_told_of_it_and_only_while_they_may(
    run, start, here, told, services, clock, sessions
):
    add(here, Cause.QUIET)
    start(run)
    clock.go_on(hours=1)
    with sessions.begin() as session:
        user = session.scalar(select(User))
        user.role = "member"  # sees runs of projects alone
    notify_researchers(services)
    with sessions.begin() as session:
        session.scalar(select(User)).role = "researcher"
        session.scalar(select(User)).disabled_at = clock()
    notify_researchers(services)
    assert told == []
    with sessions.begin() as session:
        session.scalar(select(User)).disabled_at = None
    notify_researchers(services)
    assert len(told) == 1


def test_the_address_is_sealed_shown_by_its_host_and_only_ones_own(
    run, here, researcher, sessions, engine_text
):
    add(here, Cause.JOB)
    page = here.get("/notifications").text
    assert "hooks.example.org" in page and "the-secret" not in page
    assert "the-secret" not in engine_text("SELECT address FROM notification")
    assert "the-secret" not in engine_text("SELECT after FROM audit_entry")
    with sessions() as session:
        number = str(session.scalar(select(Notification.id)))
    other = researcher(Role.OWNER)
    assert "hooks.example.org" not in other.get("/notifications").text
    for act in ("test", "remove"):
        assert other.post(f"/notifications/{act}", number=number).status_code == 404
    here.post("/notifications/test", number=number)
    assert here.post("/notifications/remove", number=number).status_code == 303
    with sessions() as session:
        assert session.scalars(select(Notice)).all() == []


@pytest.fixture
def engine_text(app):
    def text(query: str) -> str:
        with app.extensions["parallax"].engine.connect() as connection:
            return str(connection.exec_driver_sql(query).all())

    return text


@pytest.mark.one_database
@pytest.mark.one_database
def test_nobody_has_more_addresses_than_ten(here):
    said = [add(here, "job", address=f"{HOOK}{number}").text for number in range(11)]
    assert ["you have 10 addresses already. Remove one first" in one for one in said] == [
        *[False] * 10,
        True,
    ]


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("address", "quiet", "causes", "says"),
    [
        ("https://192.168.0.7/hook", "30", ["job"], "not public"),
        ("http://example.org/hook", "30", ["job"], "must begin with https://"),
        ("nobody", "30", ["job"], "is not a mail address"),
        ("a@example.org", "30", ["job"], "sends no mail"),
        (HOOK, "30", [], "nothing is chosen"),
        (HOOK, "0", ["quiet"], "not a number from 1"),
        (HOOK, "1e3", ["quiet"], "not a number from 1"),
        ("x" * 501, "30", ["job"], "from 1 to 500"),
    ],
)
def test_a_bad_form_is_told_and_nothing_kept(address, quiet, causes, says, here, sessions):
    answer = add(here, *causes, address=address, quiet=quiet)
    assert answer.status_code == 400 and says in answer.text
    with sessions() as session:
        assert session.scalars(select(Notification)).all() == []


@pytest.mark.one_database
def test_a_mail_arrives_and_a_refused_one_says_why(
    run, here, services, clock, sessions, mail_server
):
    port = mail_server.server_address[1]
    mails = {"smtp_host": "127.0.0.1", "smtp_port": port, "smtp_security": "none"}
    services.settings = Settings(**mails, smtp_from="lab@example.org")
    assert add(here, Cause.JOB, address="anna@example.org").status_code == 303
    assert add(here, Cause.JOB, address="nobody@example.org").status_code == 303
    with sessions() as session:
        numbers = session.scalars(select(Notification.id)).all()
    for number in numbers:
        here.post("/notifications/test", number=str(number))
    notify_researchers(services)
    [mail] = mail_server.mails
    assert "To: anna@example.org" in mail and "From: lab@example.org" in mail
    assert "Subject: Parallax: This is a test of Parallax" in mail
    page = here.get("/notifications").text
    assert "sent</span>" in page and "no such mailbox" in page


@pytest.mark.one_database
def test_a_balance_that_nobody_can_ask_is_no_news(run, here, told, services):
    add(here, Cause.BALANCE)
    check_platform_balances(services)
    notify_researchers(services)
    assert told == []
