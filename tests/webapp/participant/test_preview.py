"""Who only looks sees the real pages, and leaves nothing."""

import json
import re

import pytest

from tests.webapp.conftest import start_run

pytestmark = pytest.mark.one_database


def session_of(page) -> dict:
    return json.loads(re.search(r'id="session">(.*?)</script>', page.text, re.DOTALL)[1])


def test_a_preview_shows_consent_and_trials_and_stores_nothing(client, run, rows):
    before, address = rows(), f"/run/{run.ref}?preview=1"
    consent = client.get(address)
    assert 'data-page="consent"' in consent.text
    assert "Nothing is stored about this visit." in consent.text
    page = client.post(address, data={"decision": "accept"})
    assert (page.status_code, 'data-page="working"' in page.text) == (200, True)
    session = session_of(page)
    assert session["preview"] is True and session["answered"] == []
    # Two constructions in two conditions each, one with catch trials too.
    assert len(session["trials"]) == 6
    assert rows() == before


def test_a_preview_ends_with_the_questionnaire_and_no_platforms_words(client, run, start):
    page = client.post(f"/run/{run.ref}?preview=1", data={"decision": "accept"}).text
    over = page[page.index('id="preview-over"') :]
    assert "Accept the task" not in over
    assert "That was one example of each task. Nothing was stored." in over
    assert 'name="native_language"' in over
    assert 'name="native_language"' not in start(run).page().text


def test_the_trials_of_a_preview_are_the_runs_own(client, run, start):
    page = client.post(f"/run/{run.ref}?preview=1", data={"decision": "accept"})
    real = [t for _ in range(2) for t in start(run).session()["trials"]]
    shown = {frozenset((t["first"], t["second"])) for t in session_of(page)["trials"]}
    assert shown <= {frozenset((t["first"], t["second"])) for t in real}


def test_declining_a_preview_stores_nothing_either(client, run, rows):
    before = rows()
    page = client.post(f"/run/{run.ref}?preview=1", data={"decision": "decline"})
    assert 'data-page="consent"' in page.text
    assert rows() == before


def test_an_offer_is_previewed_and_a_link_without_its_values_names_nobody(client, sessions, study):
    """Of the marketplace, and of the researchers' own page of the run."""
    address = f"/run/{start_run(sessions, study, 'mturk').ref}"
    offered = client.get(f"{address}?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=HIT1")
    assert "To take part, accept the task first." in offered.text
    own = client.get(f"{address}?preview=1")
    assert "This is a preview: nothing is stored." in own.text
    assert "accept the task first" not in own.text
    for method in (client.get, client.post):
        nobody = method(address)
        assert nobody.status_code == 400
        assert "This link does not say who you are." in nobody.text
        assert 'data-page="consent"' not in nobody.text


@pytest.mark.parametrize("query", ["?preview=0", "?preview=", "?preview=yes", "?assignmentId=1"])
def test_only_a_preview_is_one(client, run, rows, query):
    assert client.post(f"/run/{run.ref}{query}", data={"decision": "accept"}).status_code == 303
    assert rows()["participant"] == 1


def test_a_full_or_closed_run_can_still_be_looked_at(client, run, start, sessions):
    for _ in range(8):
        start(run)
    assert client.get(f"/run/{run.ref}").status_code == 409
    assert client.get(f"/run/{run.ref}?preview=1").status_code == 200


def test_a_program_is_never_a_preview(client, simulated_run):
    response = client.post(f"/run/{simulated_run.ref}?preview=1", data={"decision": "accept"})
    assert response.status_code == 303
