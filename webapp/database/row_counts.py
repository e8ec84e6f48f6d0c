"""Counts of each run's places, participants, responses and verdicts, kept by the database itself.

To count a run's rows costs more the more there are, and every arrival and every look at the
metrics needs the counts. Triggers (``webapp.database.count_triggers``) therefore keep them in the
transaction that changes the rows, whichever statement does. A count is the sum of its parts in
``run_count``: on PostgreSQL each transaction adds to a part that no other one holds, or makes
one, so nobody waits for anybody. On SQLite, where writers take turns, a count has one part.
"""

from collections import Counter

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Select,
    case,
    delete,
    func,
    insert,
    literal,
    select,
)

from webapp.database.models import Participant, Place, Response, RunCount, Trial, Verdict

PLACES = "places"
TAKEN = "taken"
RESPONSES = "responses"
PARTICIPANTS = "participants"
KEPT = "verdict kept"
EXCLUDED = "verdict excluded"
# The run's id, the subject and the list.
Key = tuple[int, str, int]


def participants_in(state: str) -> str:
    """Return the subject that counts a run's participants in a state."""
    return f"{PARTICIPANTS} {state}"


def excluded_by(rule: str) -> str:
    """Return the subject that counts a run's verdicts by which a rule excludes somebody."""
    return f"{EXCLUDED} {rule}"


def miscounted(connection: Connection, run_id: int | None = None) -> dict[Key, tuple[int, int]]:
    """Return the counts that are not what they count: what each says, and what there is.

    Args:
        connection: An open connection; all rows are read.
        run_id: The run; None for all.
    """
    kept, there = _kept(connection, run_id), _there(connection, run_id)
    keys = sorted(kept.keys() | there.keys())
    return {key: (kept[key], there[key]) for key in keys if kept[key] != there[key]}


def recount(connection: Connection, run_id: int | None = None) -> None:
    """Set the counts to what there is, where they differ; writers wait meanwhile.

    Args:
        connection: An open transaction that has changed nothing yet, or holds all locks it needs.
        run_id: The run; None for all.
    """
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql("LOCK TABLE run_count IN SHARE ROW EXCLUSIVE MODE")
    for key, (_, there) in miscounted(connection, run_id).items():
        run, subject, list_ = key
        connection.execute(
            delete(RunCount).where(
                RunCount.run_id == run, RunCount.subject == subject, RunCount.list == list_
            )
        )
        counted = {"run_id": run, "subject": subject, "list": list_, "n": there}
        connection.execute(insert(RunCount), counted)


def _kept(connection: Connection, run_id: int | None) -> Counter[Key]:
    key = (RunCount.run_id, RunCount.subject, RunCount.list)
    kept = select(*key, func.sum(RunCount.n).cast(Integer)).group_by(*key)
    if run_id is not None:
        kept = kept.where(RunCount.run_id == run_id)
    return _counter(connection, kept)


def _there(connection: Connection, run_id: int | None) -> Counter[Key]:
    place = (Place.run_id, Place.list)
    counted = [
        (Place.run_id, select(place[0], literal(PLACES), place[1], func.count()).group_by(*place)),
        (
            Place.run_id,
            select(place[0], literal(TAKEN), place[1], func.count(Place.participant_id)).group_by(
                *place
            ),
        ),
        (
            Participant.run_id,
            select(
                Participant.run_id,
                (f"{PARTICIPANTS} " + Participant.state),
                literal(0),
                func.count(),
            ).group_by(Participant.run_id, Participant.state),
        ),
        (
            Participant.run_id,
            select(Participant.run_id, literal(RESPONSES), literal(0), func.count())
            .join_from(Response, Trial)
            .join(Participant, Participant.id == Trial.participant_id)
            .group_by(Participant.run_id),
        ),
        _verdicts(),
    ]
    found = Counter[Key]()
    for run, statement in counted:
        only = statement if run_id is None else statement.where(run == run_id)
        found.update(_counter(connection, only))
    return found


def _verdicts() -> tuple[ColumnElement[int], Select[int, str, int, int]]:
    subject = case((Verdict.kept, KEPT), else_=f"{EXCLUDED} " + Verdict.rule)
    # Named first: PostgreSQL would not see that two parameters of the same text are the same.
    each = (
        select(Participant.run_id.label("run_id"), subject.label("subject"))
        .join(Verdict, Verdict.participant_id == Participant.id)
        .subquery()
    )
    key = each.c.run_id, each.c.subject
    counted: Select[int, str, int, int] = select(*key, literal(0), func.count()).group_by(*key)
    return each.c.run_id, counted


def _counter(connection: Connection, statement: Select[int, str, int, int]) -> Counter[Key]:
    rows = connection.execute(statement)
    return Counter({(run, subject, list_): n for run, subject, list_, n in rows})
