"""Notes and tags: written, found, never exported, and erased with the person."""

import json

import pytest
from sqlalchemy import select

from webapp.database.models import AuditEntry, Note, Participant, Tag
from webapp.privacy.forget import find_person, forget_person
from webapp.privacy.retention import erase_identities
from webapp.runs.blinding import unblind_run
from webapp.runs.export import export_run
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database

SAID = "they-wrote-that-the-page-froze"


@pytest.fixture
def here(researcher):
    return researcher(Role.RESEARCHER)


@pytest.fixture
def people(run, start, sessions):
    for _ in range(2):
        start(run).answer_all()
    with sessions() as session:
        return session.scalars(select(Participant).order_by(Participant.id)).all()


@pytest.fixture
def noted(run, people, here):
    """A note and two tags about the first person, who is returned, and a note about the run."""
    one = {"participant": people[0].ref}
    here.post(f"/runs/{run.ref}/notes", text=SAID, tags="Froze, pilot,  froze", **one)
    here.post(f"/runs/{run.ref}/notes", text="the second wave")
    return people[0]


@pytest.mark.both_databases
def test_a_note_is_read_where_it_belongs_and_a_tag_finds_its_people(noted, people, run, here):
    page = here.get(f"/runs/{run.ref}/participants/{noted.ref}").text
    assert SAID in page and "the second wave" not in page and "researcher, " in page
    assert SAID not in here.get(f"/runs/{run.ref}/participants/{people[1].ref}").text
    assert "the second wave" in here.get(f"/runs/{run.ref}").text
    found = here.get(f"/runs/{run.ref}/participants?tag=froze").text
    assert noted.ref in found and people[1].ref not in found
    assert "1 participant." in found
    assert noted.ref not in here.get(f"/runs/{run.ref}/participants?tag=other").text


def test_a_viewer_reads_notes_and_writes_none(noted, run, researcher):
    viewer = researcher(Role.VIEWER)
    page = f"/runs/{run.ref}/participants/{noted.ref}"
    assert SAID in viewer.get(page).text
    assert "Write a note" not in viewer.get(page).text
    assert viewer.post(f"/runs/{run.ref}/notes", text="x").status_code == 403


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({}, "Write a note, or tags, or both"),
        ({"tags": "ok, <b>"}, "is not a tag"),
        ({"tags": "x" * 31}, "is not a tag"),
        ({"text": "x" * 5001}, "at most 5,000 characters; this one has 5,001"),
        ({"tags": ",".join(f"t{n}" for n in range(21))}, "A participant has at most 20 tags"),
        ({"text": "hello", "participant": "nobody"}, "has no participant nobody"),
    ],
)
def test_what_is_no_note_is_refused_and_nothing_is_kept(form, says, run, here, sessions):
    answer = here.post(f"/runs/{run.ref}/notes", **form)
    assert answer.status_code in (400, 404) and says in answer.text
    with sessions() as session:
        assert not session.scalars(select(Note)).all() + session.scalars(select(Tag)).all()


def test_a_run_has_no_more_notes_than_may_be(run, here, monkeypatch):
    monkeypatch.setattr("webapp.runs.notes._MOST_NOTES", 2)
    pages = [here.post(f"/runs/{run.ref}/notes", text="again").text for _ in range(3)]
    full = "There are 2 notes already. Remove one first."
    assert [full in page for page in pages] == [False, False, True]


def test_notes_are_removed_one_by_one_and_the_audit_log_never_says_what(noted, run, here, sessions):
    with sessions() as session:
        [note] = session.scalars(select(Note.id).where(Note.participant_id == noted.id))
        tag = session.scalar(select(Tag.id).where(Tag.name == "froze"))
    one = {"participant": noted.ref}
    # A note of a person is not removed as one of the run.
    assert here.post(f"/runs/{run.ref}/notes/remove", note=str(note)).status_code == 404
    assert here.post(f"/runs/{run.ref}/notes/remove", note=str(note), **one).status_code == 303
    assert here.post(f"/runs/{run.ref}/notes/remove", tag=str(tag), **one).status_code == 303
    with sessions() as session:
        assert session.scalars(select(Note.text)).all() == ["the second wave"]
        assert session.scalars(select(Tag.name)).all() == ["pilot"]
        log = session.scalars(select(AuditEntry)).all()
        acts = [(each.act, each.after) for each in log if "note" in each.act or "tag" in each.act]
    assert acts == [
        ("note and tags written", one),
        ("note written", {}),
        ("note removed", one),
        ("tag removed", one),
    ]
    assert SAID not in json.dumps([each.after | each.before for each in log])


def test_no_export_holds_a_note_or_a_tag(noted, run, sessions, clock, tmp_path):
    with sessions.begin() as session:
        unblind_run(session, run, by="a test", reason="the test looks", now=clock())
    with sessions() as session:
        export_run(session, run, tmp_path / "run")
    content = b"".join(p.read_bytes() for p in (tmp_path / "run").rglob("*") if p.is_file())
    assert noted.ref.encode() in content
    assert SAID.encode() not in content and b"froze" not in content


def test_the_person_gets_the_notes_with_their_data(noted, run, client):
    sent = client.post(f"/run/{run.ref}/data", data={"code": noted.code})
    notes = json.loads(sent.data)["notes_of_the_researchers"]
    assert [each.get("text") or each["name"] for each in notes] == [SAID, "froze", "pilot"]
    assert all("who" not in each for each in notes)


@pytest.mark.both_databases
def test_notes_and_tags_are_erased_with_the_person(noted, app, sessions, clock):
    services = app.extensions["parallax"]
    with sessions.begin() as session:
        forget_person(session, find_person(session, noted.ref), clock(), services.record)
    with sessions() as session:
        assert session.scalars(select(Note.text)).all() == ["the second wave"]
        assert session.scalars(select(Tag)).all() == []


@pytest.mark.both_databases
def test_notes_go_with_what_identifies_people_and_none_is_written_afterwards(
    noted, run, sessions, clock, study, here
):
    with sessions.begin() as session:
        erase_identities(session, session.merge(run), study, clock())
    with sessions() as session:
        assert session.scalars(select(Note.text)).all() == ["the second wave"]
    one = {"participant": noted.ref}
    answer = here.post(f"/runs/{run.ref}/notes", text=SAID, **one)
    assert (answer.status_code, "was erased" in answer.text) == (400, True)
    assert here.post(f"/runs/{run.ref}/notes", tags="late", **one).status_code == 303
