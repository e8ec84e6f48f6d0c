"""Direct links that Prolific hands out: one person, one place, whatever is reloaded or shared."""

from urllib.parse import urlencode

import pytest
from sqlalchemy import func, select

from webapp.database.engine import reading
from webapp.database.models import LinkVisit, Participant, Place
from webapp.runs.export import export_run

PERSON, OTHER = "5f0c1e2d3b4a59687786a5b4", "6f0c1e2d3b4a59687786a5b4"
STUDY, SESSION = "7f0c1e2d3b4a59687786a5b4", "8f0c1e2d3b4a59687786a5b4"


@pytest.fixture
def come(app, run):
    """Return a function that opens a link in a browser of its own, agrees, and gives the answer."""

    def with_link(decision: str = "accept", **arguments: str):
        link = f"/run/{run.ref}?{urlencode(arguments)}"
        browser = app.test_client()
        opened = browser.get(link)
        if opened.status_code != 200:
            return opened
        return browser.post(link, data={"decision": decision})

    return with_link


@pytest.fixture
def counts(sessions):
    def read() -> tuple[int, int]:
        with reading(sessions) as session:
            people = session.scalar(select(func.count(Participant.id)))
            places = session.scalar(select(func.count(Place.participant_id)))
        return people or 0, places or 0

    return read


def test_who_opens_the_link_again_is_the_same_person_in_the_same_place(come, counts, visit):
    first = come(PROLIFIC_PID=PERSON, STUDY_ID=STUDY, SESSION_ID=SESSION)
    visit(first.location).answer(1)
    again = come(PROLIFIC_PID=PERSON, STUDY_ID=STUDY, SESSION_ID=OTHER)
    assert first.location == again.location
    assert visit(again.location).session()["answered"] == [1]
    assert counts() == (1, 1)
    assert come(PROLIFIC_PID=OTHER).location != first.location
    assert counts() == (2, 2)


def test_who_declined_stays_so(come, counts):
    come("decline", PROLIFIC_PID=PERSON)
    come("accept", PROLIFIC_PID=PERSON)
    assert counts() == (1, 0)


@pytest.mark.parametrize(
    ("value", "code", "message"),
    [
        ("", "missing_id", "does not say who you are"),
        ("{{%PROLIFIC_PID%}}", "unfilled_link", "missing your ID"),
        ("%PROLIFIC_PID%", "unfilled_link", "missing your ID"),
        ("${e://Field/PROLIFIC_PID}", "unfilled_link", "missing your ID"),
        (PERSON[:-1], "malformed_id", "is not complete"),
        (PERSON.upper(), "malformed_id", "is not complete"),
        (f"{PERSON}\n", "malformed_id", "is not complete"),
        ("\u0665" * 24, "malformed_id", "is not complete"),
    ],
)
@pytest.mark.one_database
def test_a_link_that_names_nobody_is_told_kindly_and_noted(
    come, counts, sessions, value, code, message
):
    for _ in range(2):
        answer = come(PROLIFIC_PID=value)
        assert answer.status_code == 400
        assert message in answer.text
    assert counts() == (0, 0)
    with reading(sessions) as session:
        visit = session.scalars(select(LinkVisit)).one()
    assert (visit.problem, visit.participant_id) == (code, None)
    assert visit.parameters == {"PROLIFIC_PID": value}


@pytest.mark.one_database
def test_what_the_link_says_is_kept_and_stands_in_no_export(
    come, visit, run, sessions, tmp_path, clock
):
    home = come(PROLIFIC_PID=PERSON, STUDY_ID=STUDY, SESSION_ID=SESSION, note="x").location
    visit(home).answer_all()
    with reading(sessions) as session:
        kept = session.scalars(select(LinkVisit)).one()
        code = session.scalars(select(Participant.code)).one()
        export_run(session, run, tmp_path / "export")
    assert kept.parameters == {"STUDY_ID": STUDY, "SESSION_ID": SESSION}
    written = [path for path in (tmp_path / "export").rglob("*") if path.is_file()]
    assert written
    for path in written:
        content = path.read_bytes()
        for secret in (PERSON, STUDY, SESSION, code):
            assert secret.encode() not in content, path


@pytest.mark.one_database
def test_the_closing_page_tells_a_code_that_is_the_persons_own(come, visit, sessions):
    codes = set()
    for person in (PERSON, OTHER):
        visitor = visit(come(PROLIFIC_PID=person).location)
        visitor.answer_all()
        visitor.questionnaire(native_language="English")
        with reading(sessions) as session:
            found = session.scalars(select(Participant).where(Participant.platform_id == person))
            participant = found.one()
        assert participant.code in visitor.page().text
        assert participant.code != participant.ref
        assert participant.ref not in visitor.page().text
        codes.add(participant.code)
    assert len(codes) == 2
