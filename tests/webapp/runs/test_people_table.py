"""A run's participants a page at a time: complete, in order, and at the cost of one page."""

from datetime import timedelta

import pytest
from sqlalchemy import event, insert, select, update

from tests.webapp.conftest import LAUNCHED
from webapp.database.models import Event, Participant, Response, SessionSummary, Trial
from webapp.database.models import RunItem as Item
from webapp.jobs.housekeeping import summarise_run
from webapp.runs.people_table import PAGE_SIZE, SUMMARY_SORTS, PeopleFilter, make_people_table
from webapp.runs.runs import load_launched_study
from webapp.sessions.leave import erase_data

N = 120


@pytest.fixture
def crowd(sessions, run):
    """So many participants, of whom all but the last ten answered a trial."""
    with sessions.begin() as session:
        item = session.scalars(select(Item.id).where(Item.run_id == run.id)).first()
        people = [
            {
                "run_id": run.id, "ref": f"p{n:03}", "code": f"c{n:03}", "list": n % 4, "place": n,
                "state": "working" if n % 3 else "finished", "arrived_at": LAUNCHED,
                "consented_at": LAUNCHED,
                "finished_at": None if n % 3 else LAUNCHED + timedelta(minutes=n % 7),
            }
            for n in range(N)
        ]  # fmt: skip
        session.execute(insert(Participant), people)
        ids = session.scalars(select(Participant.id).order_by(Participant.ref)).all()
        trials = [
            {"participant_id": id_, "position": 1, "run_item_id": item, "good_side": "first"}
            for id_ in ids[: N - 10]
        ]
        session.execute(insert(Trial), trials)
        answered = session.scalars(select(Trial.id).order_by(Trial.participant_id)).all()
        answers = [
            {
                "trial_id": id_, "client_uuid": f"u{n}", "chosen_side": "first",
                "rt_ms": 100.0 + 10 * (n % 20), "input_method": "key", "was_hidden": n % 5 == 0,
                "waited_ms": float(n % 3), "recorded_at": LAUNCHED,
            }
            for n, id_ in enumerate(answered)
        ]  # fmt: skip
        session.execute(insert(Response), answers)
    return run


def pages(session, run, **wanted):
    number, refs = 1, []
    while True:
        table = make_people_table(session, run, PeopleFilter(page=number, **wanted))
        refs += [each.participant.ref for each in table.people]
        if not table.more:
            return refs, table
        number += 1


def twins(sessions):
    """Return whose times each summarised session has."""
    summarised = select(Participant.ref, SessionSummary.judged).join(
        SessionSummary, SessionSummary.participant_id == Participant.id
    )
    with sessions() as session:
        return {
            ref: [who for who, _ in judged["twins"]]
            for ref, judged in session.execute(summarised)
        }  # fmt: skip


@pytest.mark.parametrize("sort", ["arrival", "list", *SUMMARY_SORTS])
def test_every_page_together_shows_everybody_once_and_who_has_no_summary_last(
    crowd, sessions, clock, sort
):
    assert summarise_run(sessions, crowd.ref, load_launched_study, clock()) == N - 10
    with sessions() as session:
        refs, last = pages(session, crowd, sort=sort)
    assert (len(refs), len(set(refs)), last.total) == (N, N, N)
    if sort in SUMMARY_SORTS:
        assert refs[-10:] == [f"p{n:03}" for n in range(N - 10, N)]


def test_a_summary_s_order_is_that_of_the_answers(crowd, sessions, clock):
    summarise_run(sessions, crowd.ref, load_launched_study, clock())
    with sessions() as session:
        found = make_people_table(session, crowd, PeopleFilter(sort="rt")).people
        times = [each.signals.median_rt_ms for each in found]
        hidden = [
            each.signals.hidden
            for each in make_people_table(session, crowd, PeopleFilter(sort="hidden")).people
        ]
    assert times == sorted(times) and len(set(times)) > 1
    assert hidden == sorted(hidden, reverse=True) and set(hidden) == {0, 1}


@pytest.mark.parametrize("sort", ["arrival", "flags"])
def test_filters_hold_on_every_page(crowd, sessions, clock, sort):
    summarise_run(sessions, crowd.ref, load_launched_study, clock())
    with sessions() as session:
        refs, table = pages(session, crowd, sort=sort, state="finished")
        one, _ = pages(session, crowd, sort=sort, search="p017")
    assert sorted(refs) == [f"p{n:03}" for n in range(0, N, 3)]
    assert table.total == len(refs)
    assert one == ["p017"]


def test_a_page_costs_the_same_statements_and_rows_however_many_there_are(crowd, sessions, clock):
    summarise_run(sessions, crowd.ref, load_launched_study, clock())
    spent = []
    with sessions() as session:
        engine = session.get_bind()
        event.listen(engine, "before_cursor_execute", lambda *_: spent.append(1))
        table = make_people_table(session, crowd, PeopleFilter(sort="flags"))
    assert len(table.people) == PAGE_SIZE
    assert len(spent) <= 8


def test_whoever_has_everything_erased_has_no_summary_either(crowd, sessions, clock):
    summarise_run(sessions, crowd.ref, load_launched_study, clock())
    with sessions.begin() as session:
        person = session.scalars(select(Participant).where(Participant.ref == "p001")).one()
        erase_data(session, person)
    with sessions() as session:
        of_theirs = SessionSummary.participant_id == person.id
        assert session.scalars(select(SessionSummary).where(of_theirs)).all() == []


def test_nobody_is_told_to_have_the_times_of_somebody_who_was_erased(crowd, sessions, clock):
    with sessions.begin() as session:
        same = (
            select(Trial.id).join(Participant).where(Participant.ref.in_(("p001", "p002", "p003")))
        )
        of_theirs = update(Response).where(Response.trial_id.in_(same))
        session.execute(of_theirs.values(rt_ms=512.5, release_ms=80.25))
    summarise_run(sessions, crowd.ref, load_launched_study, clock())
    assert {ref: names for ref, names in twins(sessions).items() if names} == {
        "p001": ["p002", "p003"], "p002": ["p001", "p003"], "p003": ["p001", "p002"],
    }  # fmt: skip
    with sessions.begin() as session:
        erase_data(session, session.scalars(select(Participant).filter_by(ref="p001")).one())
    assert {ref: names for ref, names in twins(sessions).items() if names} == {
        "p002": ["p003"], "p003": ["p002"],
    }  # fmt: skip
    assert len(twins(sessions)) == N - 11


def test_who_is_erased_while_sessions_are_summarised_is_named_by_none(crowd, sessions, clock):
    def study_of(session, run):
        # It is asked for once before the answers are read, and once when they are stored.
        if asked.append(run) or len(asked) == 2:
            with sessions.begin() as other:
                erase_data(other, other.scalars(select(Participant).filter_by(ref="p001")).one())
                other.add(Event(participant_id=1, kind="erased", detail={}, at=clock()))
        return load_launched_study(session, run)

    asked = []
    summarise_run(sessions, crowd.ref, study_of, clock())
    assert twins(sessions) == {}


def test_summaries_made_anew_replace_the_old_ones(crowd, sessions, clock):
    for _ in range(2):
        assert summarise_run(sessions, crowd.ref, load_launched_study, clock()) == N - 10
    with sessions() as session:
        assert len(session.scalars(select(SessionSummary)).all()) == N - 10
