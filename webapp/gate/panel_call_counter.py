"""Count the panel calls that must not be repeated, in the database and in a file.

The file ``told`` in the instance folder holds the same number as the database. If the file is
ahead, or the database is marked as restored, it is unknown which endings have been reported to the
panels: each run's calls are put on hold until a person decides.
"""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, Dialect, Integer, String, cast, exists, select
from sqlalchemy.dialects import postgresql, sqlite

from webapp.database.models import OutgoingReport, Run, Stamp
from webapp.database.models.installation import delete_stamps, set_stamp, stamp_of
from webapp.database.prepared import Prepared
from webapp.gate.installation import Blocker, Installation, Operation, write_numbers

COUNTER_FILE = "told"
_CALLS, _DOUBT, _HELD = "told calls", "told doubt", "told held "
_EVERY_PARTICIPANT = "all"


def check_panel_calls(connection: Connection, _installation: Installation) -> Iterator[Blocker]:
    """Yield a blocker if panels may know more than the database, until each run is decided."""
    stamps = _prepare_held_runs_query(connection.dialect).fetch(connection)
    held = {int(name.removeprefix(_HELD)): value for name, value in stamps}
    if not held:
        return
    fully_held_runs = [run_id for run_id, value in held.items() if value == _EVERY_PARTICIPANT]
    is_undecided = (OutgoingReport.run_id == Run.id, OutgoingReport.state == "unknown")
    partly_held = Run.id.in_(held) & exists().where(*is_undecided)
    refs = connection.scalars(
        select(Run.ref).where(Run.id.in_(fully_held_runs) | partly_held).order_by(Run.id)
    )
    if commands := "; ".join(f"parallax reconcile {ref}" for ref in refs):
        yield Blocker(
            "the database was restored or copied, so panels may already have received reports that "
            "it lists as unsent",
            "Compare each run with its panel's own pages. List the reports on hold with: "
            f"{commands}",
            frozenset({Operation.TELL_PANELS}),
        )


@cache
def _prepare_held_runs_query(dialect: Dialect) -> Prepared:
    """Return the prepared statement for held runs, which every researcher page executes."""
    is_held_run = Stamp.name.startswith(_HELD, autoescape=True)
    return Prepared(select(Stamp.name, Stamp.value).where(is_held_run), dialect)


def count_call(connection: Connection, installation: Installation) -> None:
    """Count a call that must not be repeated, before it is made; writes to the database."""
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    incremented = cast(cast(Stamp.value, Integer) + 1, String)
    row = insert(Stamp).values(name=_CALLS, value="1")
    upsert = row.on_conflict_do_update(index_elements=["name"], set_={"value": incremented})
    calls = connection.scalar(upsert.returning(Stamp.value))
    write_numbers(installation.instance / COUNTER_FILE, {"calls": int(calls or 1)})


def prepare_restore(instance: Path) -> None:
    """Set the file's number ahead of any database that is about to be restored."""
    write_numbers(instance / COUNTER_FILE, {"calls": (_read_file_count(instance) or 0) + 1})


def mark_restored(connection: Connection) -> None:
    """Mark a database that was restored, or copied while another copy had the right to pay.

    Writes to the database, so that all its machines know.
    """
    set_stamp(connection, _DOUBT, "restored")


def is_doubtful(connection: Connection, installation: Installation) -> bool:
    """Return whether panels may have received calls that the database does not know of."""
    file_count, database_count = (
        _read_file_count(installation.instance),
        _read_database_count(connection),
    )
    is_behind = database_count > 0 if file_count is None else database_count < file_count
    return is_behind or stamp_of(connection, _DOUBT) is not None


def settle_calls(connection: Connection, installation: Installation) -> None:
    """End the doubt once every run's calls are on hold; writes to the database."""
    calls = max(_read_file_count(installation.instance) or 0, _read_database_count(connection))
    delete_stamps(connection, _DOUBT)
    set_stamp(connection, _CALLS, str(calls))
    write_numbers(installation.instance / COUNTER_FILE, {"calls": calls})


def hold_calls(connection: Connection, run_id: int) -> None:
    """Put a run's non-repeatable calls on hold; writes to the database."""
    set_stamp(connection, f"{_HELD}{run_id}", _EVERY_PARTICIPANT)


def release_later_calls(connection: Connection, run_id: int, last_participant: int) -> None:
    """Allow calls about participants after ``last_participant`` again; writes to the database.

    Calls about earlier participants stay on hold, each for itself: a panel may know of an ending
    that the restored database lacks.
    """
    if stamp_of(connection, f"{_HELD}{run_id}") == _EVERY_PARTICIPANT:
        set_stamp(connection, f"{_HELD}{run_id}", str(last_participant))


def is_held(connection: Connection, run_id: int, participant_id: int | None = None) -> bool:
    """Return whether calls about a participant (or, without one, future ones) are on hold."""
    held = stamp_of(connection, f"{_HELD}{run_id}")
    if held is None or held == _EVERY_PARTICIPANT:
        return held is not None
    return participant_id is not None and participant_id <= int(held)


def _read_database_count(connection: Connection) -> int:
    return int(stamp_of(connection, _CALLS) or 0)


def _read_file_count(instance: Path) -> int | None:
    """Return the number in the file; None if the file is missing or unreadable."""
    try:
        return int(json.loads((instance / COUNTER_FILE).read_bytes())["calls"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
