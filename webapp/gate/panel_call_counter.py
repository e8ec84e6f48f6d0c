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
from webapp.gate.installation import Blocker, Installation, Operation, write_beside

FILE = "told"
_CALLS, _DOUBT, _HELD = "told calls", "told doubt", "told held "
_EVERYBODY = "all"


def check(connection: Connection, _installation: Installation) -> Iterator[Blocker]:
    """Yield a blocker if panels may know more than the database, until each run is decided."""
    stamps = _stamps(connection.dialect).find(connection)
    held = {int(name.removeprefix(_HELD)): value for name, value in stamps}
    if not held:
        return
    whole = [run_id for run_id, value in held.items() if value == _EVERYBODY]
    open_ = (OutgoingReport.run_id == Run.id, OutgoingReport.state == "unknown")
    some = Run.id.in_(held) & exists().where(*open_)
    refs = connection.scalars(select(Run.ref).where(Run.id.in_(whole) | some).order_by(Run.id))
    if named := "; ".join(f"parallax reconcile {ref}" for ref in refs):
        yield Blocker(
            "the database was restored, so panels may know of endings that it takes for untold",
            f"Compare each run with its panel's own pages. What is held is listed by: {named}",
            frozenset({Operation.TELL_PANELS}),
        )


@cache
def _stamps(dialect: Dialect) -> Prepared:
    """Return the prepared statement for held runs, which every researcher page executes."""
    held = Stamp.name.startswith(_HELD, autoescape=True)
    return Prepared(select(Stamp.name, Stamp.value).where(held), dialect)


def calling(connection: Connection, installation: Installation) -> None:
    """Count a call that must not be repeated, before it is made; writes to the database."""
    make = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    more = cast(cast(Stamp.value, Integer) + 1, String)
    row = make(Stamp).values(name=_CALLS, value="1")
    counted = row.on_conflict_do_update(index_elements=["name"], set_={"value": more})
    calls = connection.scalar(counted.returning(Stamp.value))
    write_beside(installation.instance / FILE, {"calls": int(calls or 1)})


def restoring(instance: Path) -> None:
    """Set the file's number ahead of any database that is about to be restored."""
    write_beside(instance / FILE, {"calls": (_beside(instance) or 0) + 1})


def restored(connection: Connection) -> None:
    """Mark a restored database as such, for the other machines; writes to the database."""
    set_stamp(connection, _DOUBT, "restored")


def doubtful(connection: Connection, installation: Installation) -> bool:
    """Return whether panels may have received calls that the database does not know of."""
    beside, here = _beside(installation.instance), _calls(connection)
    behind = here > 0 if beside is None else here < beside
    return behind or stamp_of(connection, _DOUBT) is not None


def settle(connection: Connection, installation: Installation) -> None:
    """End the doubt once every run's calls are on hold; writes to the database."""
    calls = max(_beside(installation.instance) or 0, _calls(connection))
    delete_stamps(connection, _DOUBT)
    set_stamp(connection, _CALLS, str(calls))
    write_beside(installation.instance / FILE, {"calls": calls})


def hold(connection: Connection, run_id: int) -> None:
    """Put a run's non-repeatable calls on hold; writes to the database."""
    set_stamp(connection, f"{_HELD}{run_id}", _EVERYBODY)


def let_go(connection: Connection, run_id: int, last_participant: int) -> None:
    """Allow calls about participants after ``last_participant`` again; writes to the database.

    Calls about earlier participants stay on hold, each for itself: a panel may know of an ending
    that the restored database lacks.
    """
    if stamp_of(connection, f"{_HELD}{run_id}") == _EVERYBODY:
        set_stamp(connection, f"{_HELD}{run_id}", str(last_participant))


def is_held(connection: Connection, run_id: int, participant_id: int | None = None) -> bool:
    """Return whether calls about a participant (or, without one, future ones) are on hold."""
    held = stamp_of(connection, f"{_HELD}{run_id}")
    if held is None or held == _EVERYBODY:
        return held is not None
    return participant_id is not None and participant_id <= int(held)


def _calls(connection: Connection) -> int:
    return int(stamp_of(connection, _CALLS) or 0)


def _beside(instance: Path) -> int | None:
    """Return the number in the file; None if the file is missing or unreadable."""
    try:
        return int(json.loads((instance / FILE).read_bytes())["calls"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
