"""Links that somebody else wrote under a worker's id: the true worker is not harmed."""

import csv
from datetime import timedelta

import pytest
from sqlalchemy import select

from webapp.core.clock import utc_now
from webapp.database.engine import reading
from webapp.database.models import Assignment, Participant, Place
from webapp.recruitment.poll import poll_run
from webapp.runs.export import export_run

pytestmark = pytest.mark.one_database


@pytest.fixture
def ann(publish_run, worker):
    publish_run()
    return worker("AANN")


@pytest.fixture
def forged(ann, client):
    """Return a function that comes under Ann's id, with a made-up assignment of a known HIT."""

    def come(link: str, assignment: str = "FORGED"):
        made_up = link.replace(f"assignmentId={ann.assignment_id}", f"assignmentId={assignment}")
        return client.post(made_up, data={"decision": "accept"})

    return come


@pytest.fixture
def news(sessions, platform, run):
    return lambda: poll_run(sessions, platform, run.ref, utc_now())


@pytest.fixture
def places(sessions):
    def held() -> int:
        with reading(sessions) as session:
            taken = select(Place.id).where(Place.participant_id.is_not(None))
            return len(session.scalars(taken).all())

    return held


def names(sessions) -> list[tuple[str | None, str]]:
    with reading(sessions) as session:
        rows = session.execute(
            select(Participant.platform_id, Participant.state).order_by(Participant.id)
        )
        return [(name, state) for name, state in rows]


def test_a_hit_that_is_none_of_the_run_s_is_refused(ann, client, sessions):
    link = ann.accept()
    other = link.replace("hitId=", "hitId=X")
    for answer in (client.get(other), client.post(other, data={"decision": "accept"})):
        assert answer.status_code == 400
        assert "belongs to another study" in answer.text
    assert names(sessions) == []


def test_a_session_that_exists_is_not_taken_over(ann, forged, visit, sessions, news, places):
    link = ann.accept()
    home = ann.consent(link)
    visit(home).answer(1)
    theirs = forged(link)
    assert visit(theirs.location).session()["answered"] == []
    assert ann.consent(link) == home
    assert ann.submit(ann.finish(home)).status_code == 200
    news()
    assert names(sessions) == [("AANN", "finished"), (None, "abandoned")]
    assert places() == 1


def test_who_comes_second_and_is_the_true_worker_starts_afresh_and_bears_the_name(
    ann, forged, visit, sessions, news, places
):
    link = ann.accept()
    visit(forged(link).location).answer(1)
    home = ann.consent(link)
    assert visit(home).session()["answered"] == []
    assert ann.submit(ann.finish(home)).status_code == 200
    news()
    assert names(sessions) == [(None, "abandoned"), ("AANN", "finished")]
    assert places() == 1
    with reading(sessions) as session:
        rows = session.execute(select(Assignment.platform_id, Assignment.status)).all()
    assert dict(rows) == {"FORGED": "returned", ann.assignment_id: "submitted"}


def test_a_forged_arrival_hides_the_study_from_nobody(ann, forged, news):
    forged(ann.accept())
    ann.give_back()
    for _ in range(2):
        assert news().granted == 0
    assert len(ann.groups()) == 1


def test_nobody_works_under_an_id_whose_work_was_handed_in(ann, forged, news, client):
    link = ann.accept()
    ann.submit(ann.finish(ann.consent(link)))
    news()
    assert forged(link).status_code == 409
    assert forged(link, "OTHER").status_code == 409
    somebody = link.replace("workerId=AANN", "workerId=ABEN")
    assert "Somebody else has handed in this assignment. Please return it." in (
        client.post(somebody, data={"decision": "accept"}).text
    )


def test_the_same_forged_link_makes_one_session_and_a_shown_session_must_be_the_workers(
    ann, forged, client, sessions, worker
):
    link = ann.accept()
    ann.consent(link)
    assert forged(link).location == forged(link).location
    ben = worker("ABEN")
    ben.consent(ben.accept())
    made_up = link.replace(ann.assignment_id, "THIRD")
    shown = client.post(made_up, data={"decision": "accept", "session": ben.session})
    assert shown.location.strip("/").split("/")[-1] not in (ann.session, ben.session)
    assert len(names(sessions)) == 4


def test_a_second_piece_of_work_of_the_same_worker_is_no_second_participant(
    publish_run, worker, forged, ann, sessions, news, places, client, visit
):
    link = ann.accept()
    home = ann.consent(link)
    first = ann.assignment_id
    form = ann.finish(home)
    ann.session = ""  # another browser
    ann.give_back()
    again = ann.accept()
    second_home = ann.consent(again)
    assert second_home != home
    assert ann.submit(ann.finish(second_home)).status_code == 200
    news()
    assert form.fields["assignmentId"] == first
    assert names(sessions) == [(None, "finished"), ("AANN", "finished")]
    assert places() == 1, "the list lacks nobody"


def test_a_session_whose_name_is_anothers_stands_in_no_export_and_holds_no_place_for_long(
    ann, forged, sessions, platform, run, places, visit, tmp_path
):
    link = ann.accept()
    ann.submit(ann.finish(ann.consent(link)))
    forger = visit(forged(link).location)
    forger.answer_all()
    forger.questionnaire(native_language="English")
    assert places() == 2
    poll_run(sessions, platform, run.ref, utc_now() + timedelta(minutes=31))
    assert places() == 1
    with reading(sessions) as session:
        true, made_up = session.scalars(select(Participant.ref).order_by(Participant.id))
        export_run(session, run, tmp_path / "export")
    written = {path.stem: path.read_text() for path in (tmp_path / "export").glob("*.csv")}
    assert {name for name, text in written.items() if made_up in text} == {
        "participants",
        "endings",
    }
    assert {name for name, text in written.items() if true in text} > {"participants", "responses"}
    with (tmp_path / "export" / "endings.csv").open(newline="") as file:
        rows = [(row["participant"], row["platform_status"]) for row in csv.DictReader(file)]
    assert rows == [(true, "submitted"), (made_up, "unconfirmed")]
