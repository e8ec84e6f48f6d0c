import re

import pytest
from sqlalchemy import delete, func, select

from webapp.core.clock import utc_now
from webapp.database.engine import reading
from webapp.database.models import Participant, Run, StudyFile
from webapp.runs.links import make_links
from webapp.runs.runs import close_run, open_run
from webapp.sessions.lookup import CODE, SINGLE

pytestmark = pytest.mark.one_database


def n_participants(sessions) -> int:
    with reading(sessions) as session:
        return session.execute(select(func.count(Participant.id))).scalar_one()


def test_looking_at_the_consent_page_stores_nothing(client, run, sessions):
    response = client.get(f"/run/{run.ref}")
    assert response.status_code == 200
    assert "Taking part in this study" in response.text
    assert n_participants(sessions) == 0


def test_accepting_leads_to_the_participants_own_address(client, run):
    response = client.post(f"/run/{run.ref}", data={"decision": "accept"})
    assert response.status_code == 303
    assert response.location.startswith("/p/") and response.location.endswith("/")
    assert 'data-page="working"' in client.get(response.location).text


def test_declining_is_respected_and_recorded(client, run, sessions):
    response = client.post(f"/run/{run.ref}", data={"decision": "decline"})
    assert 'data-page="declined"' in client.get(response.location).text
    with reading(sessions) as session:
        participant = session.scalars(select(Participant)).one()
    assert (participant.state, participant.list) == ("declined", None)


@pytest.mark.both_databases
def test_pressing_the_button_twice_makes_one_participant(client, run, sessions):
    form = {"decision": "accept", "visit": "abcdefgh2345"}
    addresses = {client.post(f"/run/{run.ref}", data=form).location for _ in range(3)}
    assert len(addresses) == 1
    assert n_participants(sessions) == 1


def test_every_consent_page_carries_another_mark(client, run):
    assert client.get(f"/run/{run.ref}").text != client.get(f"/run/{run.ref}").text


@pytest.mark.parametrize("form", [{}, {"decision": "perhaps"}])
def test_no_decision_is_a_clear_page_and_nothing_is_stored(client, run, sessions, form):
    response = client.post(f"/run/{run.ref}", data=form)
    assert response.status_code == 400
    assert "choose whether you want to take part" in response.text
    assert n_participants(sessions) == 0


def test_a_full_run_is_a_kind_page(client, run, start, study, sessions):
    places = study.design.lists * study.design.participants_per_list
    for _ in range(places):
        start(run)
    for response in (
        client.get(f"/run/{run.ref}"),
        client.post(f"/run/{run.ref}", data={"decision": "accept"}),
    ):
        assert response.status_code == 409
        assert "The study is full" in response.text
    assert n_participants(sessions) == places


def test_an_unknown_run_is_a_clear_page(client, app):
    response = client.get("/run/nosuchrun")
    assert response.status_code == 404
    assert "no study at this address" in response.text


def test_a_study_whose_files_were_lost_is_not_shown(client, sessions, run, caplog):
    with sessions.begin() as session:
        session.execute(delete(StudyFile))
    response = client.get(f"/run/{run.ref}")
    assert response.status_code == 503
    assert "cannot be shown" in response.text and run.study_folder not in response.text
    assert run.study_folder in caplog.text


def test_a_closed_run_takes_nobody_new_and_says_so_kindly(client, run, sessions):
    with sessions.begin() as session:
        close_run(session, session.merge(run), utc_now())
    for response in (
        client.get(f"/run/{run.ref}"),
        client.post(f"/run/{run.ref}", data={"decision": "accept"}),
        client.post(f"/run/{run.ref}", data={"decision": "decline"}),
    ):
        assert response.status_code == 409
        assert "The study is closed" in response.text
    assert n_participants(sessions) == 0


def test_who_is_at_work_when_a_run_closes_goes_on_and_finishes(client, run, sessions):
    form = {"decision": "accept", "visit": "abcdefgh2345"}
    home = client.post(f"/run/{run.ref}", data=form).location
    with sessions.begin() as session:
        close_run(session, session.merge(run), utc_now())
    assert client.post(f"/run/{run.ref}", data=form).location == home
    assert 'data-page="working"' in client.get(home).text


def test_a_run_that_opened_again_takes_people(client, run, sessions):
    with sessions.begin() as session:
        close_run(session, session.merge(run), utc_now())
        open_run(session, session.merge(run))
    assert client.post(f"/run/{run.ref}", data={"decision": "accept"}).status_code == 303


@pytest.mark.parametrize("kind", [CODE, SINGLE])
def test_whoever_opens_a_finished_persons_link_is_told_so_before_the_consent(
    run, client, visit, sessions, clock, kind
):
    with sessions.begin() as session:
        [link] = make_links(session, session.get_one(Run, run.id), kind, ["a"], [None], clock())
        address = f"/run/{run.ref}?link={link.token}"
    assert 'data-page="consent"' in client.get(address).text
    one = visit(client.post(address, data={"decision": "accept"}).location)
    one.answer_all()
    # Whoever has not finished continues after the consent, as before.
    assert 'data-page="consent"' in client.get(address).text
    own_code = re.search(r"/p/([^.]+)", one.home)[1]
    assert one.questionnaire(native_language="Latin").status_code == 303
    told = client.get(address)
    assert told.status_code == 409
    assert "This session is finished" in told.text
    assert "This link or code is for one person only." in told.text
    assert own_code not in told.text
    assert "I agree" not in told.text
    assert told.text == client.post(address, data={"decision": "accept"}).text
