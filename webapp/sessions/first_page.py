"""The pages of an arrival: whether somebody gets what nearly everybody gets.

They are read in as few statements as can be. Whatever is not as it nearly always is gets None
here, and is looked at in full where the pages are made.
"""

from collections.abc import Callable, Hashable
from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple

from jinja2.utils import htmlsafe_json_dumps
from sqlalchemy import Connection, Dialect, String, bindparam, exists, select

from experiment.participation import State
from experiment.records import Side
from experiment.studies.study import Study
from webapp.database.models import Device, Link, Participant, Project, Run
from webapp.database.prepared import Prepared
from webapp.gate.gate import refuse
from webapp.gate.premises import Act
from webapp.sessions.assign import free_in
from webapp.sessions.lease import span
from webapp.sessions.run_lists import RunList, run_list
from webapp.sessions.serve import WAYS_KEPT, stored_trials
from webapp.sessions.session_payload import Screen


class _Statements:
    """What every arrival waits for, in one database's words."""

    def __init__(self, dialect: Dialect) -> None:
        ref = bindparam("ref", type_=String)
        limited = exists().where(Project.id == Run.project_id, Project.most_participants > 0)
        self.takes = Prepared(
            select(free_in(Run.id)).where(
                Run.ref == ref,
                Run.closed_at.is_(None),
                ~exists().where(Link.run_id == Run.id),
                ~limited,
            ),
            dialect,
        )
        self.beginner = Prepared(
            select(
                Participant.id,
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
                Participant.state == State.WORKING,
                Participant.person_key.is_(None),
                ~exists().where(Device.participant_id == Participant.id),
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


class Beginner(NamedTuple):
    """Somebody at work who has answered nothing yet, whom no platform named.

    Attributes:
        run: Their run.
        page_key: What their page depends on, beside the trials.
        trials: Their trials as JSON, fit for a page.
    """

    run: RunOfPage
    page_key: Hashable
    trials: str


def of_link(ref: str) -> Hashable:
    """Return what the page behind a run's bare address depends on."""
    return "link", ref


def takes_whoever_comes(connection: Connection, ref: str) -> bool:
    """Return whether a run plainly takes whoever opens its bare address.

    It is open, has a free place, and neither links of its own nor a limit of its project.

    Args:
        connection: An open transaction.
        ref: The run's reference.

    Raises:
        GateError: Nobody is admitted until something is mended.
    """
    found = _statements(connection.dialect).takes.find(connection, ref=ref)
    if not found or not found[0][0] or found[0][0] <= 0:
        return False
    refuse(Act.ADMIT, connection)
    return True


def find_beginner(
    connection: Connection,
    ref: str,
    now: datetime,
    session_days: int,
    known: Callable[[int], Study | None],
) -> Beginner | None:
    """Return somebody who is plainly at the beginning of a session; None for everybody else.

    Args:
        connection: An open transaction.
        ref: The participant's reference.
        now: The time.
        session_days: How many days after arrival a link works.
        known: Returns the study of a run where this process has read it.
    """
    found = _statements(connection.dialect).beginner.find(connection, ref=ref)
    if not found:
        return None
    [(who, list_, arrived_at, *signs, run_id, run_ref, lease_minutes)] = found
    run = RunOfPage(run_id, run_ref, lease_minutes)
    begins, ends = span(lease_minutes, now)
    holds = any(sign is not None and begins <= sign <= ends for sign in signs)
    study = known(run_id)
    old = now - arrived_at > timedelta(days=session_days)
    # The breaks of a session in blocks depend on who it is.
    if study is None or len(study.design.block_names) > 1 or old or not holds:
        return None
    rows = stored_trials(connection, who)
    if any(response is not None for *_, response in rows):
        return None
    items, screen = run_list(connection, run, list_), cache(lambda: Screen(study.of_list(list_)))
    texts = [_written(screen, items, *row) for *row, _ in rows]
    return Beginner(run, run.page_key(study, list_, len(rows)), f"[{', '.join(texts)}]")


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
