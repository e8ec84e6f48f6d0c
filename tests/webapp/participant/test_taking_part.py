"""Who consents, who agrees as well, and on which devices people take part."""

import pytest
from sqlalchemy import func, select

from experiment.participation import EventKind, State
from experiment.studies.files import study_files
from experiment.studies.load import StudyErrors, frozen_study
from experiment.tables.schemas import EXPORT_TABLES
from tests.webapp.conftest import start_run
from webapp.database.engine import reading
from webapp.database.models import ConsentText, Event, Participant, Place
from webapp.runs.export_queries import stream_rows
from webapp.runs.runs import find_named_run

pytestmark = pytest.mark.one_database
ASSENT = "We show you pairs of sentences. You may stop when you like."
BOTH = "[taking_part]\nassent = true\n"
SCREENING = """
[[screening]]
name = "native"
label = "Is English your native language?"
type = "choice"
options = ["yes", "no"]
accept = ["yes"]
"""


@pytest.fixture
def launched(study, sessions):
    """Return a function that launches the study with more in it, and gives the run's reference."""

    def with_more(more: str) -> str:
        files = study_files(study)
        files["study.toml"] += f"\n{more}\n".encode()
        files["texts/en/assent.md"] = ASSENT.encode()
        return start_run(sessions, frozen_study(files, study.folder), "direct").ref

    return with_more


@pytest.fixture
def stored(sessions):
    """Return a function that counts people, who hold places, and agreements as well."""

    def of(ref: str) -> tuple[list[str], int, list[dict[str, str]]]:
        with reading(sessions) as session:
            states = session.scalars(select(Participant.state)).all()
            held = session.scalar(select(func.count(Place.participant_id))) or 0
            noted = select(Event.detail).where(Event.kind == EventKind.ASSENTED)
            return list(states), held, list(session.scalars(noted))

    return of


def test_both_agree_before_there_is_a_place_and_both_texts_are_kept_and_exported(
    launched, client, visit, stored, sessions
):
    ref = launched(BOTH)
    page = client.get(f"/run/{ref}").text
    assert "I agree that the participant takes part" in page
    someone = visit(client.post(f"/run/{ref}", data={"decision": "accept"}).location)
    assert ASSENT.split(".")[0] in someone.page().text
    assert stored(ref) == ([State.ARRIVED], 0, [])
    # Nobody gets further by asking for the next step.
    client.post(f"{someone.home}screening", data={})
    assert someone.answer(1).status_code == 409
    for _ in range(2):
        assert client.post(f"{someone.home}assent", data={"decision": "accept"}).status_code == 303
    states, held, [agreed] = stored(ref)
    assert (states, held, agreed["version"]) == ([State.WORKING], 1, "2")
    with reading(sessions) as session:
        texts = session.scalars(select(ConsentText).order_by(ConsentText.version)).all()
        assert [ASSENT in text.text for text in texts] == [False, True]
        assert texts[1].sha256 == agreed["consent_text"]
        tables = {table.name: table for table in EXPORT_TABLES}
        run = find_named_run(session, ref)
        [event] = stream_rows(session, run, tables["events"])
        [consent] = stream_rows(session, run, tables["consents"])
    assert event["kind"] == "assented" and agreed["consent_text"] in str(event["detail"])
    assert (consent["consent_version"], consent["consent_sha256"]) == (1, texts[0].sha256)


def test_who_does_not_want_to_leaves_without_a_place(launched, client, visit, stored):
    ref = launched(BOTH)
    someone = visit(client.post(f"/run/{ref}", data={"decision": "accept"}).location)
    client.post(f"{someone.home}assent", data={"decision": "decline"})
    page = someone.page().text
    assert "You are not taking part" in page and "You said no, and that is fine." in page
    assert "Erase my answers" not in page, "there are none"
    assert stored(ref) == ([State.LEFT], 0, [])


def test_questions_come_after_both_have_agreed(launched, client, visit, stored):
    ref = launched(BOTH + SCREENING)
    someone = visit(client.post(f"/run/{ref}", data={"decision": "accept"}).location)
    client.post(f"{someone.home}screening", data={"native": "yes"})
    assert stored(ref)[1] == 0
    client.post(f"{someone.home}assent", data={"decision": "accept"})
    assert 'data-page="screening"' in someone.page().text
    client.post(f"{someone.home}screening", data={"native": "yes"})
    assert stored(ref)[1] == 1


def test_the_second_text_must_be_there(study):
    files = study_files(study)
    files["study.toml"] += BOTH.encode()
    with pytest.raises(StudyErrors, match=r'"assent" is missing'):
        frozen_study(files, study.folder)


@pytest.mark.parametrize(
    ("sent", "status", "people"),
    [
        ({"decision": "accept", "device": "phone"}, 409, 0),
        ({"decision": "accept"}, 409, 0),
        ({"decision": "accept", "device": "tablet"}, 303, 1),
        ({"decision": "decline", "device": "phone"}, 303, 1),
    ],
)
def test_a_device_that_the_study_refuses_gets_no_place(
    launched, client, stored, sent, status, people
):
    ref = launched('[taking_part]\ndevices = ["desktop", "tablet"]\n')
    assert "on a computer or a tablet." in client.get(f"/run/{ref}").text
    assert client.post(f"/run/{ref}", data=sent).status_code == status
    assert len(stored(ref)[0]) == people
