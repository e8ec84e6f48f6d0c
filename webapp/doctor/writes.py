"""Whether the service's user can store something, and whose the files are."""

from collections.abc import Iterator
from pathlib import Path

from experiment.machine import user_name, user_number
from webapp.database.remedies import remedy_for
from webapp.database.schema import revisions, stored_revision
from webapp.database.write_trial import of_others, why_nothing_is_stored
from webapp.doctor.findings import Finding, Installation, Level

_SHOWN = 5


def writes(at: Installation) -> Iterator[Finding]:
    """Store something and take it back, as the user who asks."""
    if at.engine is None or stored_revision(at.engine) != revisions()[-1]:
        yield Finding("writes", Level.GOOD, "not tried: the database cannot be used yet")
    elif problem := why_nothing_is_stored(at.engine, at.folder):
        remedy = (
            "Free some space, or give the files back to the user of the service: "
            f"chown -R {_owner(at.folder)}: {at.folder}"
        )
        if "the database" in problem:
            remedy = f"{remedy_for(problem)}. Where the files are another user's: {remedy}"
        yield Finding("writes", Level.FAULT, problem, remedy)
    else:
        yield Finding("writes", Level.GOOD, "a trial row and a trial file could be written")


def owners(at: Installation) -> Iterator[Finding]:
    """Look for files of other users, which the server cannot write to."""
    found = list(of_others(at.folder, _database(at)))
    if not found:
        yield Finding("owners", Level.GOOD, "every file belongs to the user of the service")
        return
    names = ", ".join(str(path) for path in found[:_SHOWN])
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    whose = _owner(found[0])
    say = f"{names}{more} belong to another user ({whose}), so the server cannot write to them"
    paths = " ".join(str(path) for path in found[:_SHOWN])
    remedy = f"chown {user_name(user_number())}: {paths}"
    yield Finding("owners", Level.FAULT, say, remedy)


def _database(at: Installation) -> Path | None:
    if at.engine is None or at.engine.dialect.name != "sqlite":
        return None
    return Path(str(at.engine.url.database)).resolve()


def _owner(path: Path) -> str:
    return user_name(path.lstat().st_uid)
