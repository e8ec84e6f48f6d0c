"""The triggers that keep ``webapp.database.row_counts``, for both databases."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from webapp.database.row_counts import EXCLUDED, KEPT, PARTICIPANTS, PLACES, RESPONSES, TAKEN


@dataclass(frozen=True, slots=True)
class _Count:
    """What one row of a table adds to a count, in SQL that both databases understand.

    Attributes:
        table: Whose rows are counted.
        run_id: The row's run.
        subject: The count's subject.
        list: Its list.
        where: Which rows are counted.
    """

    table: str
    run_id: str
    subject: str
    list: str = "0"
    where: str = "1 = 1"


# {row} stands for the row.
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
# The rows that an operation removes, and those that it adds.
_OPERATIONS = {"INSERT": ("NEW",), "DELETE": ("OLD",), "UPDATE": ("OLD", "NEW")}
_SIGNS = {"OLD": -1, "NEW": 1}
# On SQLite only what changes a count is worth a trigger's run.
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


def start_counting(connection: Connection) -> None:
    """Make the triggers that keep the counts; what is there by now must be counted already."""
    make = _sqlite_triggers if connection.dialect.name == "sqlite" else _postgresql_triggers
    for statement in make():
        connection.exec_driver_sql(statement)


def stop_counting(connection: Connection) -> None:
    """Drop the triggers, if there are any."""
    if connection.dialect.name == "sqlite":
        for table in _TABLES:
            for operation in _OPERATIONS:
                connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS count_{table}_{operation}")
        return
    for statement in DROP_FUNCTIONS:
        connection.exec_driver_sql(statement)


def _sqlite_triggers() -> Iterator[str]:
    for table in _TABLES:
        for operation, rows in _OPERATIONS.items():
            of = f" OF {_COLUMNS[table]}" if operation == "UPDATE" else ""
            steps = " ".join(
                step
                for count in _COUNTS
                if count.table == table
                for row in rows
                for step in _sqlite_steps(count, row)
            )
            yield (
                f"CREATE TRIGGER count_{table}_{operation} AFTER {operation}{of} ON {table}"
                f" BEGIN {steps} END"
            )


def _sqlite_steps(count: _Count, row: str) -> Sequence[str]:
    run_id, subject, list_, where = (
        part.format(row=row) for part in (count.run_id, count.subject, count.list, count.where)
    )
    this = f"run_id = {run_id} AND subject = {subject} AND list = {list_}"
    return (
        f"INSERT INTO run_count (run_id, subject, list, n) SELECT {run_id}, {subject}, {list_}, 0"
        f" WHERE {where} AND NOT EXISTS (SELECT 1 FROM run_count WHERE {this});",
        f"UPDATE run_count SET n = n + {_SIGNS[row]} WHERE {where} AND {this};",
    )


def _postgresql_triggers() -> Iterator[str]:
    for table in _TABLES:
        for operation, rows in _OPERATIONS.items():
            changes = " UNION ALL ".join(
                _postgresql_changes(count, row)
                for count in _COUNTS
                if count.table == table
                for row in rows
            )
            name = f"count_{table}_{operation.lower()}"
            yield _FUNCTION.format(name=name, changes=changes)
            # Once for each statement: many rows of one launch change a count once.
            tables = " ".join(f"{row} TABLE AS {row.lower()}_rows" for row in rows)
            yield (
                f"CREATE TRIGGER {name} AFTER {operation} ON {table} REFERENCING {tables}"
                f" FOR EACH STATEMENT EXECUTE FUNCTION {name}()"
            )


def _postgresql_changes(count: _Count, row: str) -> str:
    run_id, subject, list_, where = (
        part.format(row="r") for part in (count.run_id, count.subject, count.list, count.where)
    )
    return (
        f"SELECT {run_id} AS run_id, {subject} AS subject, {list_} AS list, {_SIGNS[row]} AS n"
        f" FROM {row.lower()}_rows r WHERE {where}"
    )


_FUNCTION = """
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
