"""Coming from the marketplace: under which assignment somebody works, whatever they do."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from webapp.core.clock import utc_now
from webapp.database.engine import reading
from webapp.database.models import Assignment, Participant, Place
from webapp.recruiters.platform import PlatformError
from webapp.recruitment.poll import poll_run

pytestmark = pytest.mark.one_database


@pytest.fixture
def news(sessions, platform, run):
    """Return a function that polls."""
    return lambda: poll_run(sessions, platform, run.ref, utc_now())


@pytest.fixture
def held(sessions, run):
    """Return a function that counts the places that somebody holds."""

    def count() -> int:
        with reading(sessions) as session:
            taken = select(Place).where(Place.participant_id.is_not(None))
            return len(session.scalars(taken).all())

    return count


def test_who_returns_and_accepts_again_goes_on_under_the_new_assignment(
    publish_run, worker, visit, assignments, participants, news
):
    publish_run()
    ann = worker("AANN")
    visit(ann.consent(ann.accept())).answer(1)
    first = ann.assignment_id
    ann.give_back()
    link = ann.accept()
    assert ann.assignment_id != first
    home = ann.consent(link)
    assert visit(home).session()["answered"] == [1]
    form = ann.finish(home)
    assert form.fields["assignmentId"] == ann.assignment_id
    assert ann.submit(form).status_code == 200
    news()
    assert assignments() == [("AANN", "returned"), ("AANN", "submitted")]
    assert participants() == [("AANN", "finished")]


def test_the_same_assignment_opened_twice_is_one(publish_run, worker, assignments):
    publish_run()
    ann = worker("AANN")
    link = ann.accept()
    assert ann.consent(link) == ann.consent(link)
    assert assignments() == [("AANN", "active")]


def test_a_returned_assignment_frees_the_place(
    publish_run, worker, assignments, participants, held, news
):
    publish_run()
    ann = worker("AANN")
    ann.consent(ann.accept())
    assert held() == 1
    ann.give_back()
    assert news().returned == 1
    assert (assignments(), held()) == ([("AANN", "returned")], 0)
    assert participants() == [("AANN", "abandoned")]


def test_who_let_the_time_run_out_frees_the_place(
    publish_run, worker, sessions, platform, run, held, assignments
):
    publish_run()
    ann = worker("AANN")
    ann.consent(ann.accept())
    later = utc_now() + timedelta(minutes=31)
    assert poll_run(sessions, platform, run.ref, later).returned == 1
    assert (assignments(), held()) == ([("AANN", "timed_out")], 0)


def test_who_still_works_keeps_the_place_when_the_platform_is_polled(
    publish_run, worker, held, news
):
    publish_run()
    ann = worker()
    ann.consent(ann.accept())
    assert news().returned == 0
    assert held() == 1


def test_who_handed_in_cannot_take_another_place(publish_run, worker, news, client):
    publish_run()
    ann = worker("AANN")
    link = ann.accept()
    ann.submit(ann.finish(ann.consent(link)))
    news()
    second = link.replace(ann.assignment_id, "SECOND")
    for shown in ("", ann.session):
        again = client.post(second, data={"decision": "accept", "session": shown})
        assert again.status_code == 409
    assert "Please return this assignment" in again.text


def test_who_took_another_before_the_first_was_told_is_given_no_second_form(
    publish_run, worker, visit, news
):
    publish_run()
    ann = worker("AANN")
    link = ann.accept()
    home = ann.consent(link)
    form = ann.finish(home)
    second = link.replace(ann.assignment_id, "SECOND")
    again = ann.study.post(second, data={"decision": "accept", "session": ann.session})
    assert "externalSubmit" in again.text and home not in again.text
    assert "externalSubmit" in visit(home).page().text
    ann.submit(form)
    news()
    assert "externalSubmit" not in visit(home).page().text


def test_an_id_that_a_returned_assignment_had_before_serves_its_next_worker(
    publish_run, worker, assignments, news, control
):
    publish_run()
    control("faults", faults=[{"kind": "id_reused", "count": 1}])
    ann = worker("AANN")
    ann.consent(ann.accept())
    ann.give_back()
    ben = worker("ABEN")
    form = ben.finish(ben.consent(ben.accept()))
    assert ben.assignment_id == ann.assignment_id
    assert ben.submit(form).status_code == 200
    news()
    assert assignments() == [("AANN", "returned"), ("ABEN", "submitted")]


def test_who_is_given_the_same_id_again_hands_in_under_it(publish_run, worker, assignments, news):
    publish_run()
    ann = worker("AANN")
    link = ann.accept()
    ann.consent(link)
    # Somebody else, or she herself before she returned it, came under another id meanwhile.
    ann.consent(link.replace(ann.assignment_id, "ANOTHER"))
    assert assignments() == [("AANN", "returned"), ("AANN", "active")]
    form = ann.finish(ann.consent(link))
    assert form.fields["assignmentId"] == ann.assignment_id
    assert ann.submit(form).status_code == 200
    news()
    assert assignments() == [("AANN", "submitted"), ("AANN", "returned")]


def test_who_worked_is_what_the_platform_says(publish_run, worker, sessions, run, news):
    """Somebody writes another worker's id into the link; the platform knows who submitted."""
    publish_run()
    ann = worker("AANN")
    home = ann.consent(ann.accept().replace("workerId=AANN", "workerId=AVICTIM"))
    ann.submit(ann.finish(home))
    news()
    with reading(sessions) as session:
        rows = session.execute(
            select(Assignment.worker_id, Assignment.status, Assignment.participant_id).order_by(
                Assignment.id
            )
        ).all()
        victim = session.scalars(select(Participant)).one()
    assert rows == [("AVICTIM", "returned", victim.id), ("AANN", "submitted", None)]


def test_a_worker_whom_the_platform_does_not_know_does_not_stop_the_news(
    publish_run, worker, news, platform, monkeypatch, assignments
):
    publish_run()
    ann, ben = worker("AANN"), worker("ABEN")
    ann.take_part()
    ben.take_part()
    assert news().submitted == 2
    grant = platform.grant

    def refuse_ann(qualification_id: str, worker_id: str) -> None:
        if worker_id == "AANN":
            raise PlatformError("there is no such worker")
        grant(qualification_id, worker_id)

    monkeypatch.setattr(platform, "grant", refuse_ann)
    progress = news()
    assert (progress.granted, progress.refused, progress.submitted) == (1, 1, 0)
    assert assignments() == [("AANN", "submitted"), ("ABEN", "submitted")]


@pytest.mark.parametrize(
    "change",
    [
        ("turkSubmitTo=", "turkSubmitTo=http%3A%2F%2Fevil.example%23"),
        ("workerId=A", "workerId=%3Cscript%3EA"),
        ("assignmentId=", "assignmentId=%00"),
    ],
)
def test_a_link_that_the_marketplace_did_not_write_is_refused(
    publish_run, worker, client, change, participants
):
    publish_run()
    refused = client.get(worker().accept().replace(*change))
    assert refused.status_code == 400
    assert "open it again from the marketplace" in refused.text
    assert participants() == []


def test_who_came_before_gets_in_again_when_the_run_is_full(publish_run, worker, sessions, client):
    publish_run()
    ann = worker("AANN")
    link = ann.accept()
    ann.consent(link)
    with sessions.begin() as session:
        for place in session.scalars(select(Place).where(Place.participant_id.is_(None))):
            session.delete(place)
    assert client.get(link).status_code == 200
    assert client.get(link.replace("AANN", "ABEN")).status_code == 409


def test_the_frame_and_the_form_are_allowed_for_the_marketplace_alone(client, run, endpoint):
    policy = client.get(f"/run/{run.ref}").headers["Content-Security-Policy"]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert endpoint in rules["form-action"] and endpoint in rules["frame-ancestors"]
    assert "mturk.com" not in rules["form-action"]
