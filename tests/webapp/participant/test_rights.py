"""A person may stop on every page, and what they gave is kept or erased as they wish."""

import re

import pytest
from sqlalchemy import select

from webapp.database.engine import reading
from webapp.database.models import Base, Event, Participant, Place, Response

pytestmark = pytest.mark.one_database

FORM = {"native_language": "English"}


@pytest.fixture
def theirs(sessions):
    """Return a function that counts the rows about the only participant, by table."""

    def count() -> dict[str, int]:
        tables = [table for table in Base.metadata.sorted_tables if "participant_id" in table.c]
        with reading(sessions) as session:
            about = {
                table.name: len(
                    session.execute(select(table).where(table.c.participant_id.is_not(None))).all()
                )
                for table in tables
            }
            return about | {"response": len(session.scalars(select(Response)).all())}

    return count


def leave(visitor, wish: str):
    return visitor.client.post(f"{visitor.home}withdraw", data={"wish": wish})


def bring_to(visitor, where: str) -> None:
    if where == "working":
        visitor.answer(1)
        return
    visitor.answer_all()
    if where == "finished":
        visitor.questionnaire(**FORM)


@pytest.mark.parametrize("where", ["working", "answered", "finished"])
@pytest.mark.both_databases
def test_what_is_erased_leaves_nothing_that_somebody_did(visitor, sessions, theirs, where):
    visitor.client.post(f"{visitor.home}device", json={"mark": "a", "language": "en"})
    bring_to(visitor, where)
    assert leave(visitor, "erase").status_code == 303
    left = theirs()
    assert left.pop("event") == 1, "that they withdrew and had it erased"
    assert not any(left.values()), left
    page = visitor.page()
    assert page.status_code == 200 and 'data-page="withdrawn"' in page.text
    assert "Your answers have been erased" in page.text
    with reading(sessions) as session:
        person = session.scalars(select(Participant)).one()
        assert [e.kind for e in session.scalars(select(Event))] == ["erased"]
    assert (person.state, person.withdrawn_at is None) == ("withdrawn", False)
    assert person.code in page.text


def test_what_is_kept_stays_and_may_still_be_erased(visitor, theirs):
    visitor.answer(1)
    leave(visitor, "keep")
    assert theirs()["response"] == 1
    assert "are kept" in visitor.page().text
    leave(visitor, "keep")
    leave(visitor, "erase")
    assert theirs()["response"] == 0
    assert "have been erased" in visitor.page().text


def test_after_that_nothing_more_is_taken(visitor, theirs):
    visitor.answer(1)
    leave(visitor, "erase")
    before = theirs()
    assert visitor.answer(2).json["error"]["code"] in ("wrong_state", "unknown_position")
    refused = visitor.client.post(f"{visitor.home}device", json={"mark": "b"})
    assert refused.status_code == 409
    visitor.questionnaire(**FORM)
    assert theirs() == before


@pytest.mark.parametrize("wish", ["keep", "erase"])
@pytest.mark.both_databases
def test_withdrawing_needs_the_session_s_token_is_never_too_often_and_writes_once(
    visitor, client, rows, wish
):
    visitor.answer(1)
    before = rows()
    for address in ("/p/forged/withdraw", f"{visitor.home[:-2]}x/withdraw"):
        assert client.post(address, data={"wish": wish}).status_code in (401, 404)
    assert rows() == before
    leave(visitor, wish)
    once = rows()
    assert once != before
    for _ in range(50):
        assert leave(visitor, wish).status_code == 303
    assert rows() == once


@pytest.mark.both_databases
def test_the_place_is_free_for_somebody_else(visitor, sessions):
    leave(visitor, "keep")
    with reading(sessions) as session:
        held = session.scalars(select(Place).where(Place.participant_id.is_not(None))).all()
    assert not held


def test_every_page_of_a_session_has_the_way_out_and_asking_stores_nothing(visitor, rows):
    pages = [visitor.page()]
    assert "Stop and erase my answers" in visitor.client.get(f"{visitor.home}withdraw").text
    visitor.answer_all()
    pages.append(visitor.page())
    visitor.questionnaire(**FORM)
    pages.append(visitor.page())
    before = rows()
    for page in pages:
        assert 'href="withdraw"' in page.text
    visitor.client.get(f"{visitor.home}withdraw")
    assert rows() == before
    assert leave(visitor, "perhaps").status_code == 400
    assert rows() == before


def test_after_the_end_the_page_offers_one_button_and_speaks_of_no_choice(visitor):
    visitor.answer_all()
    visitor.questionnaire(**FORM)
    asked = visitor.client.get(f"{visitor.home}withdraw").text
    assert asked.count("Erase my answers") == 2, "the heading and the button"
    assert visitor.page().text.count("Erase my answers") == 1, "the way out"
    assert "Stop taking part" not in asked + visitor.page().text
    assert "Keep my answers and go back" in asked
    assert "Stop and" not in asked
    assert "Go back to the study" not in asked
    refused = leave(visitor, "perhaps").text
    assert "Nothing was erased. To have your answers erased, please go back" in refused
    assert "choose" not in refused


def test_who_has_left_is_asked_as_after_the_end(visitor, sessions):
    with sessions() as session:
        person = session.scalars(select(Participant)).one()
        person.state, person.ending = "left", "failed_check"
        session.commit()
    asked = visitor.client.get(f"{visitor.home}withdraw").text
    assert "You may have your answers erased" in asked
    assert "Stop" not in asked and "Stop taking part" not in visitor.page().text
    assert "Nothing was erased." in leave(visitor, "perhaps").text


@pytest.mark.parametrize("wish", ["keep", "erase"])
def test_who_has_withdrawn_is_not_asked_whether_to_stop(visitor, wish):
    leave(visitor, wish)
    asked = visitor.client.get(f"{visitor.home}withdraw")
    if wish == "keep":
        assert "You may have your answers erased" in asked.text and "Stop" not in asked.text
    else:
        assert (asked.status_code, asked.location) == (303, visitor.home)


def test_declining_after_having_agreed_takes_that_back(client, run, theirs):
    form = {"decision": "accept", "visit": "abcdefgh2345"}
    home = client.post(f"/run/{run.ref}", data=form).location
    again = client.post(f"/run/{run.ref}", data=form | {"decision": "decline"})
    assert again.location == home
    assert 'data-page="withdrawn"' in client.get(home).text
    assert theirs()["trial"] == 0


def test_who_declined_from_the_start_has_nothing_to_withdraw(client, run):
    home = client.post(f"/run/{run.ref}", data={"decision": "decline"}).location
    assert client.get(f"{home}withdraw").location == home
    assert client.post(f"{home}withdraw", data={"wish": "erase"}).status_code == 409


def test_the_consent_text_can_be_saved_as_the_page_shows_it(client, run):
    page = client.get(f"/run/{run.ref}").text
    [address] = re.findall(r'href="(/run/[^"]*consent.txt[^"]*)"', page)
    saved = client.get(address)
    assert saved.mimetype == "text/plain"
    assert "attachment" in saved.headers["Content-Disposition"]
    assert "Taking part is voluntary" in saved.text and "What is stored about you" in saved.text


def test_who_answers_for_a_study_is_read_on_its_consent_page(launched, study, client):
    names = {"contact": "Ada <ada@lab.test>", "institution": "A school", "ethics": "No. 7"}
    named = study.model_copy(update={"study": study.study.model_copy(update=names)})
    assert study.study.unnamed == ("contact", "institution", "ethics")
    assert named.study.unnamed == ()
    run = launched(named)
    client.application.extensions["parallax"]._studies[run.id] = named
    page = client.get(f"/run/{run.ref}").text
    for text in ("Ada &lt;ada@lab.test&gt;", "A school", "No. 7"):
        assert text in page
