"""The working page of somebody who works: their stored trials, and how far they are."""

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

# A pair can be shown in two ways, several options in as many as they have orders.
WAYS_KEPT = 4


class _Statements:
    """What the page waits for, in one database's words."""

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


# Made once for each kind of database.
_statements = cache(_Statements)


def serve(session: Session, run: Run, participant: Participant, study: Study) -> Work:
    """Return what the participant's working page shows.

    Which option is good, and everything else known of an item, stays on the server; of practice
    trials alone it says which is right.

    Args:
        session: An open session.
        run: The participant's.
        participant: Who works; they have a list.
        study: The study as they meet it.
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

    Of each its position, the row of its item, the side of the good option, the options on the
    screen, and the key of its answer, None where it has none.
    """
    return _statements(connection.dialect).trials.find(connection, who=who)


def _shown(
    screen: Screen, items: RunList, position: int, row: int, side: str, options: str | None
) -> ShownTrial:
    """Return a trial as the browser gets it; its texts are made once in each process."""
    way = row, side, options
    if (known := items.shown.get(way)) is None:
        if len(items.shown) >= WAYS_KEPT * len(items.by_row):
            items.shown.clear()
        item, good = items.by_row[row].item, Side(side) if side else None
        known = items.shown[way] = screen.trial(0, item, good, options)
    return {**known, "position": position}
