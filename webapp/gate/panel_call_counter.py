"""A count of the calls to panels that must not be repeated, in the database and beside it.

The database counts the calls that must not be repeated, and the file ``told`` in the instance
folder holds the same number. Where it is ahead, or a restore says so in the database itself, nobody
knows which endings the panels have heard of: each run's calls are held until a person decided.
"""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, Dialect, Integer, String, cast, exists, select
from sqlalchemy.dialects import postgresql, sqlite

from webapp.database.installation_meta import forget_stamps, set_stamp, stamp_of
from webapp.database.models import OutgoingReport, Run, Stamp
from webapp.database.prepared import Prepared
from webapp.gate.installation import Blocker, Installation, Operation, write_beside

FILE = "told"
_CALLS, _DOUBT, _HELD = "told calls", "told doubt", "told held "
_EVERYBODY = "all"


def check(connection: Connection, _installation: Installation) -> Iterator[Blocker]:
    """Yield a blocker where panels may know more than the database, until each run is decided."""
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
    """Return the statement that every researcher page asks, made once for each database."""
    held = Stamp.name.startswith(_HELD, autoescape=True)
    return Prepared(select(Stamp.name, Stamp.value).where(held), dialect)


def calling(connection: Connection, installation: Installation) -> None:
    """Count a call that must not be repeated, before it is made; the connection writes."""
    make = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    more = cast(cast(Stamp.value, Integer) + 1, String)
    row = make(Stamp).values(name=_CALLS, value="1")
    counted = row.on_conflict_do_update(index_elements=["name"], set_={"value": more})
    calls = connection.scalar(counted.returning(Stamp.value))
    write_beside(installation.instance / FILE, {"calls": int(calls or 1)})


def restoring(instance: Path) -> None:
    """Put the file ahead of whatever a database holds that is about to be restored."""
    write_beside(instance / FILE, {"calls": (_beside(instance) or 0) + 1})


def restored(connection: Connection) -> None:
    """Say in a restored database that it was, for the other machines; the connection writes."""
    set_stamp(connection, _DOUBT, "restored")


def doubtful(connection: Connection, installation: Installation) -> bool:
    """Return whether the panels may have been told more than the database knows."""
    beside, here = _beside(installation.instance), _calls(connection)
    behind = here > 0 if beside is None else here < beside
    return behind or stamp_of(connection, _DOUBT) is not None


def settle(connection: Connection, installation: Installation) -> None:
    """End the doubt, once every run's calls are held; the connection writes."""
    calls = max(_beside(installation.instance) or 0, _calls(connection))
    forget_stamps(connection, _DOUBT)
    set_stamp(connection, _CALLS, str(calls))
    write_beside(installation.instance / FILE, {"calls": calls})


def hold(connection: Connection, run_id: int) -> None:
    """Hold a run's calls that must not be repeated; the connection writes."""
    set_stamp(connection, f"{_HELD}{run_id}", _EVERYBODY)


def let_go(connection: Connection, run_id: int, last_participant: int) -> None:
    """Let calls about later participants be made again; the connection writes.

    Those about participants who were there already stay held, one by one: a panel may know of an
    ending that the restored database does not have yet.
    """
    if stamp_of(connection, f"{_HELD}{run_id}") == _EVERYBODY:
        set_stamp(connection, f"{_HELD}{run_id}", str(last_participant))


def is_held(connection: Connection, run_id: int, participant_id: int | None = None) -> bool:
    """Return whether calls about a participant are held; without one, about those to come."""
    held = stamp_of(connection, f"{_HELD}{run_id}")
    if held is None or held == _EVERYBODY:
        return held is not None
    return participant_id is not None and participant_id <= int(held)


def _calls(connection: Connection) -> int:
    return int(stamp_of(connection, _CALLS) or 0)


def _beside(instance: Path) -> int | None:
    """Return what the file says; None where it is not there, or says nothing that can be read."""
    try:
        return int(json.loads((instance / FILE).read_bytes())["calls"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
