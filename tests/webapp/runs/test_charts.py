"""What a run's page draws: counted right, kept by the summary, and no result while blind."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from tests.webapp.conftest import LAUNCHED
from webapp.database.models import Participant, RunSummary
from webapp.jobs import housekeeping
from webapp.jobs.housekeeping import list_runs_to_summarise, summarise_run
from webapp.privacy.amendments import restrict_use
from webapp.runs.blinding import unblind_run
from webapp.runs.charts import load_visible_charts
from webapp.runs.runs import load_launched_study
from webapp.sessions.leave import Wish, withdraw

pytestmark = pytest.mark.one_database


def line(chart, label):
    [found] = [each["y"] for each in chart["lines"] if each["label"] == label]
    return found


def test_charts_count_who_came_stayed_and_finished_and_hide_results_until_unblinded(
    run, start, sessions, clock
):
    ends, stays = start(run), start(run)
    ends.answer_all()
    ends.questionnaire(native_language="English")
    stays.answer(1, "first")
    with sessions.begin() as session:
        first, second = session.scalars(select(Participant).order_by(Participant.id))
        first.consented_at, second.consented_at = LAUNCHED, LAUNCHED + timedelta(minutes=3)
        first.finished_at = LAUNCHED + timedelta(minutes=4)
    summarise_run(sessions, run.ref, load_launched_study, clock())
    with sessions.begin() as session:
        blind, at = load_visible_charts(session, run)
        assert at == clock()
        assert "accuracy" not in blind
        agreed = line(blind["recruitment"], "agreed")
        assert (agreed[0], agreed[2], agreed[3], agreed[-1]) == (1, 1, 2, 2)
        assert line(blind["recruitment"], "finished")[3:5] == [0, 1]
        assert set(line(blind["recruitment"], "planned")) == {8}
        assert line(blind["attrition"], "participants") == [2, 2, *[1] * 7]
        assert line(blind["minutes"], "participants")[-1] == 1
        unblind_run(session, run, by="a test", reason="the test looks", now=clock())
    with sessions() as session:
        seen, _ = load_visible_charts(session, run)
    assert "accuracy" in seen
    assert all(0 <= share <= 100 for share in line(seen["accuracy"], "% as expected"))


def test_a_run_that_was_summarised_before_charts_were_kept_draws_nothing(run, sessions):
    with sessions.begin() as session:
        session.add(RunSummary(run_id=run.id, made_at=LAUNCHED, took_s=0.0, responses=0))
        session.flush()
        assert load_visible_charts(session, run) == ({}, None)


@pytest.fixture
def two_drawn(app, run, start, sessions, clock):
    """Two people who finished, and what is drawn of them; whose wish it is is the second's."""
    for _ in range(2):
        visitor = start(run)
        visitor.answer_all()
        visitor.questionnaire(native_language="English")
    summarise_run(sessions, run.ref, load_launched_study, clock())
    record = app.extensions["parallax"].record

    def wish(what):
        with sessions.begin() as session:
            last = session.scalars(select(Participant).order_by(Participant.id.desc())).first()
            what(session, last, record)

    return wish


def drawn(sessions, run):
    with sessions() as session:
        return load_visible_charts(session, run)[0]


def test_what_somebody_erased_is_drawn_no_more_at_once(two_drawn, run, sessions, clock, app):
    assert sum(line(drawn(sessions, run)["minutes"], "participants")) == 2
    two_drawn(lambda session, who, record: withdraw(session, who, Wish.ERASE, clock(), record))
    assert drawn(sessions, run) == {}
    # Also where as many answers came as were erased.
    assert list_runs_to_summarise(app.extensions["parallax"]) == [run.ref]


def test_nothing_of_whom_no_use_is_allowed_is_drawn(two_drawn, run, sessions, clock):
    two_drawn(lambda session, who, record: restrict_use(session, who, clock(), record))
    assert drawn(sessions, run) == {}
    summarise_run(sessions, run.ref, load_launched_study, clock())
    charts = drawn(sessions, run)
    assert sum(line(charts["minutes"], "participants")) == 1
    assert line(charts["recruitment"], "agreed")[-1] == 1
    assert line(charts["recruitment"], "finished")[-1] == 1
    assert line(charts["attrition"], "participants")[0] == 1


def test_what_was_drawn_while_somebody_erased_is_not_kept(
    two_drawn, run, sessions, clock, monkeypatch
):
    kept = housekeeping.compute_charts

    def meanwhile(*arguments):
        made = kept(*arguments)
        two_drawn(lambda session, who, record: restrict_use(session, who, clock(), record))
        return made

    monkeypatch.setattr(housekeeping, "compute_charts", meanwhile)
    summarise_run(sessions, run.ref, load_launched_study, clock())
    assert drawn(sessions, run) == {}
