"""Which text each person agreed to is known, word for word, whatever the program says later."""

import hashlib
import html
import re

import pytest
from sqlalchemy import select

from tests.webapp.researcher.conftest import (  # noqa: F401 - fixtures
    browser,
    password_hash,
    researcher,
)
from webapp.database.engine import reading
from webapp.database.models import ConsentText, Participant
from webapp.participant import consent, rights
from webapp.sessions.consent_texts import consent_texts
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database


def form_of(client, run) -> dict[str, str]:
    page = client.get(f"/run/{run.ref}").text
    hidden = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page)
    return {**{name: html.unescape(value) for name, value in hidden}, "decision": "accept"}


def saved_text(client, run) -> str:
    return client.get(f"/run/{run.ref}/consent.txt").text


@pytest.fixture
def say_more(monkeypatch, app):
    """Return a function that lets the pages say one sentence more, as a new version would."""

    def more() -> None:
        for module in (consent, rights):
            name = "compose_consent_text"
            before = getattr(module, name)
            monkeypatch.setattr(module, name, lambda *a, _b=before, **k: _b(*a, **k) + "More.\n")
        # A new version runs in new processes.
        app.extensions["parallax"].rendered.clear()

    return more


def test_the_text_that_somebody_read_is_kept_with_them(client, run, sessions):
    text = saved_text(client, run)
    for _ in range(2):
        assert client.post(f"/run/{run.ref}", data=form_of(client, run)).status_code == 303
    client.post(f"/run/{run.ref}", data={"decision": "decline"})
    with reading(sessions) as session:
        [(kept, people)] = consent_texts(session, run)
        assert people == 2
        assert (kept.version, kept.text) == (1, text)
        assert kept.sha256 == hashlib.sha256(text.encode()).hexdigest()
        declined = select(Participant.consent_text_id).where(Participant.state == "declined")
        assert session.scalars(declined).all() == [None]


def test_nobody_agrees_to_a_text_that_they_did_not_see(client, run, sessions, say_more):
    opened_before = form_of(client, run)
    say_more()
    page = client.post(f"/run/{run.ref}", data=opened_before)
    assert page.status_code == 409
    assert "This text has changed since you opened the page" in page.text
    with reading(sessions) as session:
        assert session.scalars(select(Participant)).all() == []
    declines = {**opened_before, "decision": "decline"}
    assert client.post(f"/run/{run.ref}", data=declines).status_code == 303


@pytest.mark.both_databases
def test_another_text_is_another_version_and_each_person_has_their_own(
    client,
    run,
    sessions,
    say_more,
    researcher,  # noqa: F811
):
    for number in (1, 2):
        assert client.post(f"/run/{run.ref}", data=form_of(client, run)).status_code == 303
        if number == 1:
            say_more()
    with reading(sessions) as session:
        found = [(text.version, text.text, people) for text, people in consent_texts(session, run)]
        refs = session.scalars(select(Participant.ref).order_by(Participant.id)).all()
    assert [(version, people) for version, _, people in found] == [(1, 1), (2, 1)]
    assert found[1][1] == found[0][1] + "More.\n"
    here = researcher(Role.VIEWER)
    for version, ref in enumerate(refs, start=1):
        page = here.get(f"/runs/{run.ref}/participants/{ref}").text
        assert f"Agreed to version {version} of" in page
        assert ("More.\n</pre>" in page) is (version == 2)
    run_page = here.get(f"/runs/{run.ref}").text
    assert "Consent text 1" in run_page and "Consent text 2" in run_page


def test_people_of_earlier_versions_are_shown_without_one(
    client,
    run,
    sessions,
    researcher,  # noqa: F811
):
    client.post(f"/run/{run.ref}", data=form_of(client, run))
    with sessions.begin() as session:
        person = session.scalars(select(Participant)).one()
        person.consent_text_id = None
        session.delete(session.scalars(select(ConsentText)).one())
    page = researcher(Role.VIEWER).get(f"/runs/{run.ref}/participants/{person.ref}").text
    assert "Their consent text is not known" in page
