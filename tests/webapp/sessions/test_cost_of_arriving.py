"""An arrival, the page before it and a scrape read as much of a large run as of a small one.

Counted is what the database does, never the time: SQLite's own steps, the rows that PostgreSQL
reads.
"""

from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from experiment.participation import State
from tests.webapp.sessions.large_runs import fill
from webapp.core.metrics import Metrics
from webapp.database.models import Run
from webapp.server.private_port import collect_registry
from webapp.sessions.consent import Decision, enroll, refuse_newcomers

NOW = datetime(2026, 3, 1, tzinfo=UTC)
# A step more for each level of an index is none for each place.
MARGIN = 1.5
# Places of each of ten lists, fifty times as many as in the small run: whatever looks at each of
# them costs thirty times the margin, and a larger run shows no more.
LARGE = 500


@pytest.fixture
def work(sessions) -> Callable[[Callable[[Session], object]], int]:
    """Return a function that tells how much the database does for something; it is rolled back."""
    count = _sqlite_steps if sessions.kw["bind"].dialect.name == "sqlite" else _rows_read
    return lambda do: count(sessions, do)


def _sqlite_steps(sessions, do) -> int:
    steps, each = 0, 10

    def tick() -> int:
        nonlocal steps
        steps += each
        return 0

    with sessions() as session:
        driver = session.connection().connection.driver_connection
        driver.set_progress_handler(tick, each)
        try:
            do(session)
        finally:
            driver.set_progress_handler(None, 0)
        session.rollback()
    return steps


def _rows_read(sessions, do) -> int:
    read = text(
        "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_xact_user_tables"
    )
    with sessions() as session:
        session.connection().exec_driver_sql("ANALYZE")
        session.commit()
        before = session.scalar(read)
        do(session)
        rows = session.scalar(read) - before
        session.rollback()
    return int(rows)


def come(run: Run, study) -> Callable[[Session], object]:
    return lambda session: enroll(
        session, session.get(Run, run.id), study, Decision.ACCEPT, NOW, platform_id="A1"
    )


@pytest.mark.parametrize("at_work", [State.FINISHED, State.WORKING])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_an_arrival_costs_the_same_at_a_hundred_places_as_at_five_thousand(
    sessions, study, run_of, work, share, at_work
):
    run = run_of(10, 10)
    fill(sessions, run, 10, share, at_work, NOW)
    little = work(come(run, study))
    large = run_of(10, 0, ref="large")
    fill(sessions, large, LARGE, share, at_work, NOW)
    assert work(come(large, study)) < MARGIN * little


def test_a_page_before_an_arrival_costs_the_same(sessions, run_of, work):
    costs = []
    for number, places in enumerate((10, LARGE)):
        run = run_of(10, 0, ref=f"run{number}")
        fill(sessions, run, places, 0.99, State.FINISHED, NOW)
        costs.append(work(lambda s, run=run: refuse_newcomers(s, run, NOW)))
    # Two runs are counted at the second.
    assert costs[1] < 2 * MARGIN * costs[0]


@pytest.mark.filterwarnings("ignore:Connection is already established")
def test_a_scrape_costs_the_same(sessions, run_of, work, tmp_path):
    def scrape(session: Session) -> None:
        registry = collect_registry(Metrics(), lambda: nullcontext(session), tmp_path)
        assert any(family.name == "parallax_responses_stored" for family in registry.collect())

    costs = []
    for number, places in enumerate((10, LARGE)):
        run = run_of(10, 0, ref=f"run{number}")
        fill(sessions, run, places, 0.5, State.FINISHED, NOW)
        costs.append(work(scrape))
    # Two runs are open at the second.
    assert costs[1] < 2 * MARGIN * costs[0]
