"""Runs with many places, of which a share is held by participants."""

from datetime import datetime

from sqlalchemy import text

from webapp.database.engine import Sessions
from webapp.database.models import Run
from webapp.database.models.identity import sealer_of


def fill(
    sessions: Sessions, run: Run, places: int, share: float, state: str, consented_at: datetime
) -> None:
    """Give each of a run's ten lists so many places, and a share of them a participant."""
    numbers = (
        "WITH RECURSIVE number(n) AS"
        " (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < :all)"
    )
    values = {"run": run.id, "all": 10 * places, "held": int(10 * places * share)}
    with sessions.begin() as session:
        session.execute(text("DELETE FROM place WHERE run_id = :run"), values)
        session.execute(
            text(
                f"{numbers} INSERT INTO identity (hash, sealed, forgotten)"
                " SELECT 'W' || n, :sealed, false FROM number WHERE n < :held"
                " ON CONFLICT DO NOTHING"
            ),
            values | {"sealed": sealer_of(session.get_bind().dialect).seal("W")},
        )
        session.execute(
            text(
                f"{numbers} INSERT INTO participant"
                " (run_id, ref, code, person_key, state, list, place, arrived_at, consented_at)"
                " SELECT :run, 'p' || :run || '-' || n, 'c' || :run || '-' || n,"
                " (SELECT id FROM identity WHERE hash = 'W' || n), :state,"
                " n % 10, n / 10, :at, :at FROM number WHERE n < :held"
            ),
            values | {"state": state, "at": consented_at},
        )
        session.execute(
            text(
                f"{numbers} INSERT INTO place (run_id, list, place, participant_id)"
                " SELECT :run, n % 10, n / 10, participant.id FROM number"
                " LEFT JOIN participant ON participant.run_id = :run"
                " AND participant.ref = 'p' || :run || '-' || n"
            ),
            values,
        )
