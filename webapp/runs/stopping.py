"""The stopping rule of a run, which is applied after participants finish.

Nothing here says more than whether the run goes on. A run that stopped for a difference, for none
of interest or at its maximum looks the same: the rule is frozen, so that it stops blind runs too.
"""

from collections.abc import Iterator
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.materials.item_rows import item_from_row
from experiment.participation import State
from experiment.stopping.questions import (
    AskedComparison,
    Person,
    list_asked_comparisons,
    look_at_answers,
)
from experiment.stopping.values import LOG_RT
from experiment.studies.study import Study
from experiment.tables.observation_tables import READINGS
from experiment.tables.schemas import RESPONSES
from webapp.database.models import Participant, Run, RunItem
from webapp.errors import RunError
from webapp.runs.exclude import judge_finished
from webapp.runs.export_queries import list_export_tables, stream_rows
from webapp.runs.runs import STOPPED, close_run, find_stopping_time
from webapp.users.audit_log import record_act

_AT_WORK_STATES = (State.WORKING, State.ANSWERED)


def is_answered(session: Session, run: Run, study: Study) -> bool:
    """Return whether every comparison that the run's rule waits for needs no more participants.

    Raises:
        RunError: The study has no rule.
        ParallaxError: The rule cannot be asked.
    """
    if study.stopping is None:
        raise RunError(
            f'the study of the run "{run.ref}" has no stopping rule',
            expected="a run whose study.toml had the table [stopping] when it was launched",
            remedy="A rule cannot be added to a run: declare it, and launch another run",
        )
    asked = _list_asked(session, run, study)
    people = {
        reads_times: list(_list_people(session, run, study, reads_times=reads_times))
        for reads_times in {comparison.values.measure == LOG_RT for comparison in asked}
    }
    return all(
        look_at_answers(comparison, people[comparison.values.measure == LOG_RT]).reason is not None
        for comparison in asked
    )


def stop_run(session: Session, run: Run, now: datetime) -> None:
    """Close a run to new participants because its rule says so; those who have begun can finish."""
    if find_stopping_time(session, run) is None:
        record_act(session, "parallax", STOPPED, now, run_ref=run.ref, after={"state": "stopped"})
        close_run(session, run, now)


def _list_asked(session: Session, run: Run, study: Study) -> list[AskedComparison]:
    query = select(RunItem.list, RunItem.item).where(RunItem.run_id == run.id)
    lists: dict[int, list[str]] = {}
    items = {}
    for list_, row in session.execute(query.order_by(RunItem.list, RunItem.list_order)):
        item = item_from_row(row)
        lists.setdefault(list_, []).append(item.item_id)
        items[item.item_id] = item
    return list_asked_comparisons(study, list(items.values()), lists)


def _list_people(
    session: Session, run: Run, study: Study, *, reads_times: bool
) -> Iterator[Person]:
    """Yield everybody who was given a list, in the order of arrival."""
    verdicts = judge_finished(session, run, study)
    wanted = READINGS.name if reads_times else RESPONSES.name
    [table] = [
        exported for exported in list_export_tables(session, run, study) if exported.name == wanted
    ]
    rows: dict[object, list[dict[str, object]]] = {}
    for row in stream_rows(session, run, table):
        rows.setdefault(row["participant"], []).append(row)
    arrived = select(Participant).where(
        Participant.run_id == run.id,
        Participant.list.is_not(None),
        Participant.restricted_at.is_(None),
    )
    for person in session.scalars(arrived.order_by(Participant.id)):
        is_kept = None if person.state in _AT_WORK_STATES else verdicts.get(person.id, False)
        assert person.list is not None
        yield Person(person.list, person.place or 0, is_kept, rows.get(person.ref, []))
