"""What links say is kept once, and what strangers can make us store has an end."""

import pytest
from sqlalchemy import func, insert, select

from tests.webapp.sessions.people import NOW
from webapp.database.engine import reading
from webapp.database.models import LinkVisit, Participant, Run
from webapp.sessions import link_visits
from webapp.sessions.link_visits import latest_parameters, store_refused_link, store_visit

SAID = {"SESSION_ID": "1", "STUDY_ID": "2"}


@pytest.fixture
def participant(sessions, visitor) -> Participant:
    with reading(sessions) as session:
        return session.scalars(select(Participant)).one()


@pytest.fixture
def stored(sessions):
    def read() -> list[tuple[str, dict[str, str]]]:
        with reading(sessions) as session:
            found = session.scalars(select(LinkVisit).order_by(LinkVisit.id))
            return [(visit.problem, visit.parameters) for visit in found]

    return read


def test_what_a_link_said_is_kept_once_and_the_latest_counts(sessions, participant, clock, stored):
    for said in (SAID, dict(reversed(SAID.items())), {}, {"SESSION_ID": "3"}, SAID):
        with sessions.begin() as session:
            store_visit(session, participant, said, clock())
    assert stored() == [("", SAID), ("", {"SESSION_ID": "3"}), ("", SAID)]
    with reading(sessions) as session:
        assert latest_parameters(session, participant) == SAID


def test_who_came_without_any_has_none(sessions, participant):
    with reading(sessions) as session:
        assert latest_parameters(session, participant) == {}


def test_a_wrong_link_is_noted_once_cut_and_not_without_end(
    sessions, run, clock, stored, monkeypatch
):
    monkeypatch.setattr(link_visits, "MOST_REFUSED", 3)
    for number in (1, 1, 2, 3, 4, 5):
        with sessions.begin() as session:
            store_refused_link(session, run, "malformed_id", {"who": f"{number}" * 500}, clock())
    assert stored() == [("malformed_id", {"who": f"{n}" * 200}) for n in (1, 2, 3)]


@pytest.mark.one_database
def test_a_thousand_wrong_links_of_a_run_are_noted_and_others_beside_them(people):
    session, run = people.session, people.run
    columns = {each.key for each in Run.__table__.columns} - {"id", "ref"}
    other = people.add(Run(ref="other", **{name: getattr(run, name) for name in columns}))
    store_refused_link(session, run, "unknown", {"who": "0"}, NOW)
    first = session.scalars(select(LinkVisit)).one()
    row = {"problem": "unknown", "said_key": first.said_key, "at": NOW}
    session.execute(insert(LinkVisit), [row | {"run_id": run.id} for _ in range(998)])
    session.execute(insert(LinkVisit), [row | {"run_id": run.id, "problem": ""}] * 5)
    for number in (1, 2):
        store_refused_link(session, run, "unknown", {"who": f"{number}"}, NOW)
    store_refused_link(session, other, "unknown", {"who": "0"}, NOW)
    of_run = select(func.count(LinkVisit.id)).where(LinkVisit.problem != "")
    each = [session.scalar(of_run.where(LinkVisit.run_id == one.id)) for one in (run, other)]
    assert each == [1_000, 1]
