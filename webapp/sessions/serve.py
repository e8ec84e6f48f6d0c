"""The data of a participant's working page: their stored trials and their progress."""

from functools import cache
from typing import Any

from sqlalchemy import Connection, Dialect, Integer, bindparam, select
from sqlalchemy.orm import Session

from experiment.records import Side
from experiment.studies.study import Study
from webapp.database.models import Device, Participant, Response, Run, Trial
from webapp.database.prepared import Prepared
from webapp.sessions.answered import of_answer
from webapp.sessions.run_lists import RunList, run_list
from webapp.sessions.session_payload import Screen, ShownTrial, Work

# The number of cached variants per item: a pair has two, several options have one per order.
WAYS_KEPT = 4


class _Statements:
    """The prepared statements that the working page executes."""

    def __init__(self, dialect: Dialect) -> None:
        who = bindparam("who", type_=Integer)
        self.trials = Prepared(
            select(
                Trial.position,
                Trial.run_item_id,
                Trial.good_side,
                Trial.options,
                of_answer(Response.id, Trial.id),
            )
            .where(Trial.participant_id == who)
            .order_by(Trial.position),
            dialect,
        )
        self.device = Prepared(
            select(Device.id).where(Device.participant_id == who).limit(1), dialect
        )


# Prepared once per database dialect.
_statements = cache(_Statements)


def serve(session: Session, run: Run, participant: Participant, study: Study) -> Work:
    """Return the data of a participant's working page.

    The good option, and everything else known about an item, stays on the server; only practice
    trials include the right answer.

    Args:
        session: An open session.
        run: The participant's run.
        participant: The participant, who has a list.
        study: The study as this participant sees it.
    """
    connection, who = session.connection(), participant.id
    statements = _statements(connection.dialect)
    rows = stored_trials(connection, who)
    assert participant.list is not None, "who works has a list"
    items = run_list(connection, run, participant.list)
    screen, block_of = Screen(study), study.design.block_of
    return screen.work(
        [_shown(screen, items, *row) for *row, _ in rows],
        blocks=[block_of.get(items.by_row[row].item.template, "") for _, row, *_ in rows],
        answered=[position for position, *_, response_id in rows if response_id is not None],
        device_known=bool(statements.device.find(connection, who=who)),
    )


def stored_trials(connection: Connection, who: int) -> list[tuple[Any, ...]]:
    """Return a participant's trials in order.

    Each row contains the trial's position, the key of its item's row, the side of the good option,
    the displayed options, and the key of its answer (None if it has none).
    """
    return _statements(connection.dialect).trials.find(connection, who=who)


def _shown(
    screen: Screen, items: RunList, position: int, row: int, side: str, options: str | None
) -> ShownTrial:
    """Return a trial as sent to the browser; its texts are cached per process."""
    way = row, side, options
    if (known := items.shown.get(way)) is None:
        if len(items.shown) >= WAYS_KEPT * len(items.by_row):
            items.shown.clear()
        item, good = items.by_row[row].item, Side(side) if side else None
        known = items.shown[way] = screen.trial(0, item, good, options)
    return {**known, "position": position}
