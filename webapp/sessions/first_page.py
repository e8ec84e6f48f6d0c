"""The pages of a session that nearly everybody gets alike: the first one at work, and the last.

They are read in as few statements as can be. Whatever is not as it nearly always is gets None
here, and is looked at in full where the pages are made.
"""

from collections.abc import Callable, Hashable
from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple

from jinja2.utils import htmlsafe_json_dumps
from sqlalchemy import Connection, Dialect, String, and_, bindparam, exists, or_, select

from experiment.participation import State
from experiment.records import Side
from experiment.studies.study import Study
from webapp.database.models import Device, Participant, Run
from webapp.database.prepared import Prepared
from webapp.sessions.lease import span
from webapp.sessions.run_lists import RunList, run_list
from webapp.sessions.serve import WAYS_KEPT, stored_trials
from webapp.sessions.session_payload import Screen

_AT_THE_END = (State.ANSWERED, State.FINISHED)


class _Statements:
    """What every arrival and every end waits for, in one database's words."""

    def __init__(self, dialect: Dialect) -> None:
        ref = bindparam("ref", type_=String)
        beginner = and_(
            Participant.state == State.WORKING,
            Participant.person_key.is_(None),
            ~exists().where(Device.participant_id == Participant.id),
        )
        self.plain = Prepared(
            select(
                Participant.id,
                Participant.state,
                Participant.code,
                Participant.list,
                Participant.arrived_at,
                Participant.consented_at,
                Participant.returned_at,
                Run.id,
                Run.ref,
                Run.lease_minutes,
            )
            .join(Run, Run.id == Participant.run_id)
            .where(
                Participant.ref == ref,
                or_(beginner, *(Participant.state == state for state in _AT_THE_END)),
            ),
            dialect,
        )


# Made once for each kind of database.
_statements = cache(_Statements)


class RunOfPage(NamedTuple):
    """What a page says of its run.

    Attributes:
        id: Its key.
        ref: Its reference.
        lease_minutes: For how long a silent participant keeps the place.
    """

    id: int
    ref: str
    lease_minutes: int

    def page_key(self, study: Study, list_: int, n_trials: int) -> Hashable:
        """Return what the page of somebody with a list depends on, beside the trials.

        Args:
            study: The run's study.
            list_: The list, whose levels have pages of their own.
            n_trials: How many trials there are.
        """
        return (*self, tuple(study.design.levels(list_).items()), n_trials)

    def end_key(self, study: Study, list_: int, state: str) -> Hashable:
        """Return what the page of somebody at the end depends on, beside their own code."""
        return (*self, tuple(study.design.levels(list_).items()), state)


class PlainPage(NamedTuple):
    """The page of somebody who plainly gets what the others get.

    Attributes:
        run: Their run.
        page_key: What their page depends on, beside their own part.
        part: Their own part, as it stands there.
    """

    run: RunOfPage
    page_key: Hashable
    part: str


def find_plain_page(
    connection: Connection,
    ref: str,
    now: datetime,
    session_days: int,
    known: Callable[[int], Study | None],
) -> PlainPage | None:
    """Return the page of somebody plainly at the beginning of a session, or at its end.

    At the beginning is who has answered nothing and was named by no platform; at the end, who is
    asked the last questions, or has finished. Everybody else gets None.

    Args:
        connection: An open transaction.
        ref: The participant's reference.
        now: The time.
        session_days: How many days after arrival a link works.
        known: Returns the study of a run where this process has read it.
    """
    found = _statements(connection.dialect).plain.find(connection, ref=ref)
    if not found:
        return None
    [(who, state, code, list_, arrived_at, *signs, run_id, run_ref, lease_minutes)] = found
    run, study = RunOfPage(run_id, run_ref, lease_minutes), known(run_id)
    begins, ends = span(lease_minutes, now)
    holds = any(sign is not None and begins <= sign <= ends for sign in signs)
    if study is None or list_ is None or now - arrived_at > timedelta(days=session_days):
        return None
    if state == State.FINISHED:
        return PlainPage(run, run.end_key(study, list_, state), code)
    if not holds:
        return None
    if state == State.ANSWERED:
        return PlainPage(run, run.end_key(study, list_, state), "")
    return _beginning(connection, run, study, who, list_)


def _beginning(
    connection: Connection, run: RunOfPage, study: Study, who: int, list_: int
) -> PlainPage | None:
    # The breaks of a session in blocks depend on who it is.
    if len(study.design.block_names) > 1:
        return None
    rows = stored_trials(connection, who)
    if any(response is not None for *_, response in rows):
        return None
    items, screen = run_list(connection, run, list_), cache(lambda: Screen(study.of_list(list_)))
    texts = [_written(screen, items, *row) for *row, _ in rows]
    return PlainPage(run, run.page_key(study, list_, len(rows)), f"[{', '.join(texts)}]")


def _written(
    screen: Callable[[], Screen],
    items: RunList,
    position: int,
    row: int,
    side: str,
    options: str | None,
) -> str:
    """Return a trial as JSON; its texts are made once in each process."""
    way = row, side, options
    if (known := items.written.get(way)) is None:
        if len(items.written) >= WAYS_KEPT * len(items.by_row):
            items.written.clear()
        good = Side(side) if side else None
        trial = screen().trial(0, items.by_row[row].item, good, options)
        texts = {name: text for name, text in trial.items() if name != "position"}
        known = items.written[way] = str(htmlsafe_json_dumps(texts, sort_keys=True))[1:]
    return f'{{"position": {position}, {known}'
