"""An answer and an arrival read few rows on PostgreSQL, whatever it knows of its tables.

It plans a statement that comes again once, by what the tables held then. A crowd fills them within
the minute until it looks again, and a test's server never looks.
"""

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from sqlalchemy import Engine, text

from experiment.records import Side
from experiment.responses.choice.choice import SentencePair
from webapp.database.write_lock import driver_transaction
from webapp.sessions.consent import Decision, enroll
from webapp.sessions.record import PostedAnswer
from webapp.sessions.record_batch import SentAnswer, record_batch

pytestmark = pytest.mark.one_database("postgresql")
NOW = datetime(2026, 3, 1, tzinfo=UTC)
PEOPLE = 5
READ = """
    SELECT sum(seq_tup_read), sum(seq_tup_read + coalesce(idx_tup_fetch, 0))
    FROM pg_stat_xact_user_tables WHERE relname IN ('trial', 'response', 'participant')
"""
# Of eight trials: each, its answer, and a few rows of checks and triggers.
MOST = 40


def read_for(engine: Engine, run_id: int, refs: list[str], position: int) -> tuple[int, int]:
    """Store an answer of each; return the rows read of whole tables, and of all that are read."""
    sent = [
        SentAnswer(
            ref,
            PostedAnswer(uuid=uuid4(), position=position, side=Side.FIRST, input_method="key"),
            NOW,
        )
        for ref in refs
    ]
    with driver_transaction(engine) as connection:
        cursor = connection.cursor()
        before = cursor.execute(READ).fetchone()
        stored = record_batch(connection, engine.dialect, sent, 30, {run_id: SentencePair()})
        assert None not in stored
        after = cursor.execute(READ).fetchone()
    whole, rows = (int(now - then) for now, then in zip(after, before, strict=True))
    return whole, rows


@pytest.mark.parametrize("looked", [False, True], ids=["no statistics", "statistics of one person"])
def test_an_answer_reads_its_own_session_alone(sessions, run, study, looked):
    engine = sessions.kw["bind"]

    def come(n: int) -> list[str]:
        with sessions() as session:
            people = [enroll(session, run, study, Decision.ACCEPT, NOW) for _ in range(n)]
            session.commit()
            return [each.ref for each in people]

    first = come(1)
    read_for(engine, run.id, first, 1)
    if looked:
        with engine.connect() as connection:
            connection.execute(text("ANALYZE"))
            connection.commit()
    early = come(2)
    for position in range(2, 8):
        read_for(engine, run.id, first, position)
        read_for(engine, run.id, early, position)
    others = come(PEOPLE)
    for position in range(1, 8):
        whole, rows = read_for(engine, run.id, others, position)
        assert not whole
        assert rows <= MOST * len(others)
    whole, rows = read_for(engine, run.id, others[:1], 8)
    assert not whole
    assert rows <= MOST
