"""Counts of each run's places, participants, responses and verdicts, maintained by triggers.

Counting a run's rows takes longer the more there are, and every arrival and every metrics scrape
needs the counts. Triggers therefore update them in the transaction that changes the rows, whatever
statement does so. A count is the sum of its parts in ``run_count``: on PostgreSQL, each transaction
adds to a part that no other transaction has locked, or creates one, so that no transaction waits.
On SQLite, which has one writer at a time, a count has one part.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
CountKey = tuple[int, str, int]


def participants_in(state: str) -> str:
    """Return the subject for the number of a run's participants in a state."""
    return f"{PARTICIPANTS} {state}"


def excluded_by(rule: str) -> str:
    """Return the subject for the number of a run's participants excluded by a rule."""
    return f"{EXCLUDED} {rule}"


def find_wrong_counts(
    connection: Connection, run_id: int | None = None
) -> dict[CountKey, tuple[int, int]]:
    """Return wrong counts, each with the stored and the actual number.

    Args:
        connection: An open connection; all rows are read.
        run_id: The run; None for all.
    """
    stored_counts, actual_counts = (
        _read_stored_counts(connection, run_id),
        _count_rows(connection, run_id),
    )
    keys = sorted(stored_counts.keys() | actual_counts.keys())
    return {
        key: (stored_counts[key], actual_counts[key])
        for key in keys
        if stored_counts[key] != actual_counts[key]
    }


def recount(connection: Connection, run_id: int | None = None) -> None:
    """Correct wrong counts; writers wait meanwhile.

    Args:
        connection: An open transaction that has changed nothing yet, or holds all locks it needs.
        run_id: The run; None for all.
    """
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql("LOCK TABLE run_count IN SHARE ROW EXCLUSIVE MODE")
    for key, (_, actual_count) in find_wrong_counts(connection, run_id).items():
        run, subject, list_ = key
        connection.execute(
            delete(RunCount).where(
                RunCount.run_id == run, RunCount.subject == subject, RunCount.list == list_
            )
        )
        count_row = {"run_id": run, "subject": subject, "list": list_, "n": actual_count}
        connection.execute(insert(RunCount), count_row)


def _read_stored_counts(connection: Connection, run_id: int | None) -> Counter[CountKey]:
    key = (RunCount.run_id, RunCount.subject, RunCount.list)
    query = select(*key, func.sum(RunCount.n).cast(Integer)).group_by(*key)
    if run_id is not None:
        query = query.where(RunCount.run_id == run_id)
    return _execute_count(connection, query)


def _count_rows(connection: Connection, run_id: int | None) -> Counter[CountKey]:
    place = (Place.run_id, Place.list)
    count_rows = [
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
        _count_verdicts(),
    ]
    counts = Counter[CountKey]()
    for run, statement in count_rows:
        only = statement if run_id is None else statement.where(run == run_id)
        counts.update(_execute_count(connection, only))
    return counts


def _count_verdicts() -> tuple[ColumnElement[int], Select[int, str, int, int]]:
    subject = case((Verdict.kept, KEPT), else_=f"{EXCLUDED} " + Verdict.rule)
    # A subquery with a label, because PostgreSQL treats two equal parameters as different.
    verdicts = (
        select(Participant.run_id.label("run_id"), subject.label("subject"))
        .join(Verdict, Verdict.participant_id == Participant.id)
        .subquery()
    )
    key = verdicts.c.run_id, verdicts.c.subject
    count_query: Select[int, str, int, int] = select(*key, literal(0), func.count()).group_by(*key)
    return verdicts.c.run_id, count_query


def _execute_count(
    connection: Connection, statement: Select[int, str, int, int]
) -> Counter[CountKey]:
    rows = connection.execute(statement)
    return Counter({(run, subject, list_): n for run, subject, list_, n in rows})


@dataclass(frozen=True, slots=True)
class _Count:
    """The contribution of one table row to a count, in SQL for both databases.

    Attributes:
        table: The table whose rows are counted.
        run_id: The row's run.
        subject: The count's subject.
        list: The count's list.
        where: The condition for rows that are counted.
    """

    table: str
    run_id: str
    subject: str
    list: str = "0"
    where: str = "1 = 1"


# {row} is replaced by the row's name.
_RUN_OF_RESPONSE = (
    "(SELECT p.run_id FROM trial t JOIN participant p ON p.id = t.participant_id"
    " WHERE t.id = {row}.trial_id)"
)
_RUN_OF_VERDICT = "(SELECT p.run_id FROM participant p WHERE p.id = {row}.participant_id)"
_SUBJECT_OF_VERDICT = f"CASE WHEN {{row}}.kept THEN '{KEPT}' ELSE '{EXCLUDED} ' || {{row}}.rule END"
_COUNTS = (
    _Count("place", "{row}.run_id", f"'{PLACES}'", "{row}.list"),
    _Count("place", "{row}.run_id", f"'{TAKEN}'", "{row}.list", "{row}.participant_id IS NOT NULL"),
    _Count("participant", "{row}.run_id", f"'{PARTICIPANTS} ' || {{row}}.state"),
    _Count("response", _RUN_OF_RESPONSE, f"'{RESPONSES}'"),
    _Count("verdict", _RUN_OF_VERDICT, _SUBJECT_OF_VERDICT),
)
_TABLES = ("place", "participant", "response", "verdict")
# The old and new rows of each operation.
_OPERATIONS = {"INSERT": ("NEW",), "DELETE": ("OLD",), "UPDATE": ("OLD", "NEW")}
_SIGNS = {"OLD": -1, "NEW": 1}
# On SQLite, triggers run only for columns that affect a count.
_COLUMNS = {
    "place": "participant_id",
    "participant": "state",
    "response": "trial_id",
    "verdict": "kept, rule",
}
DROP_FUNCTIONS = tuple(
    f"DROP FUNCTION IF EXISTS count_{table}_{operation.lower()} CASCADE"
    for table in _TABLES
    for operation in _OPERATIONS
)


def create_triggers(connection: Connection) -> None:
    """Create the triggers that maintain the counts; existing rows must be counted already."""
    make_statements = (
        _write_sqlite_triggers
        if connection.dialect.name == "sqlite"
        else _write_postgresql_triggers
    )
    for statement in make_statements():
        connection.exec_driver_sql(statement)


def drop_triggers(connection: Connection) -> None:
    """Drop the triggers, if there are any."""
    if connection.dialect.name == "sqlite":
        for table in _TABLES:
            for operation in _OPERATIONS:
                connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS count_{table}_{operation}")
        return
    for statement in DROP_FUNCTIONS:
        connection.exec_driver_sql(statement)


def _write_sqlite_triggers() -> Iterator[str]:
    for table in _TABLES:
        for operation, rows in _OPERATIONS.items():
            of = f" OF {_COLUMNS[table]}" if operation == "UPDATE" else ""
            steps = " ".join(
                step
                for count in _COUNTS
                if count.table == table
                for row in rows
                for step in _write_sqlite_steps(count, row)
            )
            yield (
                f"CREATE TRIGGER count_{table}_{operation} AFTER {operation}{of} ON {table}"
                f" BEGIN {steps} END"
            )


def _write_sqlite_steps(count: _Count, row: str) -> Sequence[str]:
    run_id, subject, list_, where = (
        part.format(row=row) for part in (count.run_id, count.subject, count.list, count.where)
    )
    same_row = f"run_id = {run_id} AND subject = {subject} AND list = {list_}"
    return (
        f"INSERT INTO run_count (run_id, subject, list, n) SELECT {run_id}, {subject}, {list_}, 0"
        f" WHERE {where} AND NOT EXISTS (SELECT 1 FROM run_count WHERE {same_row});",
        f"UPDATE run_count SET n = n + {_SIGNS[row]} WHERE {where} AND {same_row};",
    )


def _write_postgresql_triggers() -> Iterator[str]:
    for table in _TABLES:
        for operation, rows in _OPERATIONS.items():
            changes = " UNION ALL ".join(
                _write_postgresql_changes(count, row)
                for count in _COUNTS
                if count.table == table
                for row in rows
            )
            name = f"count_{table}_{operation.lower()}"
            yield _FUNCTION_SQL.format(name=name, changes=changes)
            # One trigger call per statement, so that the many rows of a launch change a count once.
            tables = " ".join(f"{row} TABLE AS {row.lower()}_rows" for row in rows)
            yield (
                f"CREATE TRIGGER {name} AFTER {operation} ON {table} REFERENCING {tables}"
                f" FOR EACH STATEMENT EXECUTE FUNCTION {name}()"
            )


def _write_postgresql_changes(count: _Count, row: str) -> str:
    run_id, subject, list_, where = (
        part.format(row="r") for part in (count.run_id, count.subject, count.list, count.where)
    )
    return (
        f"SELECT {run_id} AS run_id, {subject} AS subject, {list_} AS list, {_SIGNS[row]} AS n"
        f" FROM {row.lower()}_rows r WHERE {where}"
    )


_FUNCTION_SQL = """
CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    change record;
BEGIN
    FOR change IN
        SELECT c.run_id, c.subject, c.list, sum(c.n)::integer AS n FROM ({changes}) c
        GROUP BY c.run_id, c.subject, c.list HAVING sum(c.n) <> 0
    LOOP
        UPDATE run_count SET n = run_count.n + change.n WHERE id = (
            SELECT part.id FROM run_count part
            WHERE part.run_id = change.run_id AND part.subject = change.subject
                AND part.list = change.list
            ORDER BY part.id LIMIT 1 FOR UPDATE SKIP LOCKED
        );
        IF NOT FOUND THEN
            INSERT INTO run_count (run_id, subject, list, n)
            VALUES (change.run_id, change.subject, change.list, change.n);
        END IF;
    END LOOP;
    RETURN NULL;
END $$
"""
