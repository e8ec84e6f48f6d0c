"""Who arrives from Prolific is asked of Prolific."""

import pytest
from sqlalchemy import func, select

from webapp.database.engine import reading
from webapp.database.models import LinkVisit, Participant
from webapp.recruiters.prolific.client import ProlificClient

pytestmark = pytest.mark.one_database

FORGED = 25


@pytest.fixture
def more_settings() -> str:
    return "prolific_signed_arrivals = false\n"


@pytest.fixture
def asked(monkeypatch) -> list[str]:
    """Return the submissions that the platform was asked for."""
    found, ask = list[str](), ProlificClient.submission
    monkeypatch.setattr(
        ProlificClient, "submission", lambda self, id_: (found.append(id_), ask(self, id_))[1]
    )
    return found


def press(lab, person: str, study: str, session: str) -> int:
    way = f"/run/{lab.run.ref}?PROLIFIC_PID={person}&STUDY_ID={study}&SESSION_ID={session}"
    client = lab.app.test_client()
    return client.post(way, data={"decision": "accept"}, base_url=lab.link).status_code


def people(lab) -> int:
    with reading(lab.sessions) as session:
        return session.scalar(select(func.count(Participant.id)))


def ids(way: str) -> dict[str, str]:
    return dict(part.split("=") for part in way.partition("?")[2].split("&"))


def test_invented_ids_get_no_place_and_cost_one_call_each(lab, asked):
    study = lab.publish()
    forged = [(f"{n:024x}", f"{n + 100:024x}") for n in range(FORGED)]
    for person, session in forged:
        assert press(lab, person, study, session) == 400
    for person, session in forged[:3]:
        assert press(lab, person, study, session) == 400
    assert people(lab) == 0
    assert sorted(asked) == sorted(session for _, session in forged)
    # A study of somebody else's costs no call at all.
    assert press(lab, *forged[0][:1], "f" * 24, "e" * 24) == 400
    assert len(asked) == FORGED


def test_who_was_sent_is_admitted_with_one_call_and_nobody_in_their_name(lab, stand_in, asked):
    study = lab.publish()
    submission, way = lab.arrive(stand_in.person(), study)
    person = ids(way)["PROLIFIC_PID"]
    other, _ = lab.arrive(stand_in.person(), study)
    # Their name with an invented submission, with another's, and another name with theirs.
    assert press(lab, person, study, "a" * 24) == 400
    assert press(lab, person, study, other) == 400
    assert press(lab, "b" * 24, study, submission) == 400
    assert people(lab) == 0
    lab.agree(way)
    lab.agree(way)
    assert people(lab) == 1
    assert asked.count(submission) == 1


@pytest.mark.parametrize("kind", ["server_error", "throttled", "request_lost"])
def test_while_the_platform_is_away_people_are_let_in_marked_and_not_paid_unseen(
    lab, stand_in, shell, kind
):
    study = lab.publish()
    stand_in.faults({"kind": kind, "operation": "get-submission"})
    _, way = lab.arrive(stand_in.person(), study)
    assert press(lab, "c" * 24, study, "d" * 24) == 303
    assert press(lab, "c" * 24, study, "e" * 24) == 400  # a second person of the same name
    assert people(lab) == 1
    home = lab.agree(way)
    with reading(lab.sessions) as session:
        marked = session.scalars(
            select(LinkVisit).where(LinkVisit.participant_id.is_not(None))
        ).all()
    assert len(marked) == 2 and all("unconfirmed" in visit.parameters for visit in marked)
    lab.finish(home)
    stand_in.faults()
    lab.report()
    lab.poll()
    assert shell("approve", lab.run.ref, "--yes").exit_code == 0
    [(kind_of, paid, _)] = stand_in.payments()
    assert (kind_of, paid) == ("reward", ids(way)["SESSION_ID"])
