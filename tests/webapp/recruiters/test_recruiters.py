"""The contract every recruiter keeps."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, select

from experiment.errors import UnknownNameError
from experiment.studies.load import load_study
from webapp.clock import utc_now
from webapp.db import reading
from webapp.errors import RequestError, RunError
from webapp.flow.launch import launch
from webapp.models import Participant
from webapp.recruiters.registry import RECRUITERS, load_recruiter, open_platform
from webapp.settings import Settings

_MTURK = {
    "hitId": "HIT1", "workerId": "AWORKER", "turkSubmitTo": "https://workersandbox.mturk.com",
}  # fmt: skip


@dataclass(frozen=True)
class Links:
    """The arguments with which a recruiter's links come: a look, a visit, the same person again."""

    preview: dict[str, str] | None
    visit: dict[str, str]
    again: dict[str, str]
    names_people: bool


LINKS = {
    "direct": Links({"preview": "1"}, {}, {}, names_people=False),
    "simulator": Links(None, {}, {}, names_people=False),
    "mturk": Links(
        {**_MTURK, "workerId": "", "assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"},
        {**_MTURK, "assignmentId": "ASSIGNMENT1"},
        {**_MTURK, "assignmentId": "ASSIGNMENT2", "hitId": "HIT2"},
        names_people=True,
    ),
}


@pytest.fixture(params=list(RECRUITERS))
def name(request) -> str:
    return request.param


@pytest.fixture
def links(name: str) -> Links:
    return LINKS[name]


@pytest.fixture
def address(sessions, name: str) -> str:
    with sessions.begin() as session:
        study = load_study("minimal")
        run = launch(session, study, 1, name, now=utc_now(), code_version="0")
    return f"/run/{run.ref}"


@pytest.fixture
def people(sessions):
    """Return a function that counts the participants."""

    def count() -> int:
        with reading(sessions) as session:
            return session.scalar(select(func.count()).select_from(Participant)) or 0

    return count


def test_a_recruiter_bears_the_name_it_is_registered_under(name):
    assert load_recruiter(name).name == name


def test_the_invitation_leads_to_the_run(name):
    invitation = load_recruiter(name).invitation("https://study.example", "abc")
    assert invitation.startswith("https://study.example/run/abc")


def test_the_closing_text_is_a_sentence(name):
    assert load_recruiter(name).closing.endswith(".")


def test_only_the_simulator_is_simulated(name):
    assert load_recruiter(name).simulated is (name == "simulator")


def test_an_unknown_recruiter_is_answered_with_the_nearest_one():
    with pytest.raises(UnknownNameError, match='Did you mean "direct"'):
        load_recruiter("dirct")


def test_who_pays_nobody_has_no_platform(name):
    if name == "mturk":
        return
    with pytest.raises(RunError, match="pays nobody"):
        open_platform(name, Settings())


@pytest.mark.one_database
def test_a_look_leaves_no_row(client, address, links, people):
    if links.preview is None:
        return
    assert 'data-page="consent"' in client.get(address, query_string=links.preview).text
    accept = {"decision": "accept"}
    looked = client.post(address, query_string=links.preview, data=accept)
    assert (looked.status_code, people()) == (200, 0)


@pytest.mark.one_database
def test_who_is_named_by_the_platform_is_one_participant_however_often_they_come(
    client, address, links, people, visit
):
    accept = {"decision": "accept"}
    first = client.post(address, query_string=links.visit, data=accept).location
    visit(first).answer(1)
    again = client.post(address, query_string=links.again, data=accept).location
    assert people() == (1 if links.names_people else 2)
    assert (visit(again).session()["answered"] == [1]) is links.names_people


@pytest.mark.one_database
def test_work_is_handed_in_once_everything_is_stored_and_not_before(client, address, links, visit):
    sent_to = client.post(address, query_string=links.visit, data={"decision": "accept"})
    visitor = visit(sent_to.location)
    assert "data-handover" not in visitor.page().text
    visitor.answer_all()
    assert "data-handover" not in visitor.page().text
    visitor.questionnaire(native_language="English")
    closing = visitor.page().text
    assert 'data-page="closing"' in closing
    assert ("data-handover" in closing) is links.names_people


_NAMES = ["assignmentId", "hitId", "workerId", "turkSubmitTo", "preview", "PROLIFIC_PID"]
_VALUES = st.one_of(
    st.text(max_size=80),
    st.sampled_from(["ASSIGNMENT_ID_NOT_AVAILABLE", "A1", "https://www.mturk.com.evil.example"]),
)


@given(st.sampled_from(list(RECRUITERS)), st.dictionaries(st.sampled_from(_NAMES), _VALUES))
def test_whatever_stands_in_a_link_is_read_or_refused_kindly(name, arguments):
    try:
        arrival = load_recruiter(name).arrival(arguments, Settings())
    except RequestError as error:
        assert (error.status, error.code) == (400, "bad_arrival")
        return
    if arrival.acceptance is not None:
        assert arrival.acceptance.submit_to == "https://workersandbox.mturk.com"
