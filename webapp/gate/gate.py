"""All checks together: what is asked before somebody is admitted or paid, or a run published."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from sqlalchemy import Connection, Dialect, Engine

from webapp.core.instance import key_file
from webapp.core.keys import Purpose, read_keys
from webapp.database.key_identity import (
    REMEDY,
    Fingerprints,
    fingerprints,
    key_problems,
    known_keys,
)
from webapp.database.models.identity import keys_of, sealer_of
from webapp.erasures.file import record_file
from webapp.erasures.owner import begins_foreign
from webapp.erasures.record import knows_erasures
from webapp.errors import WebappError
from webapp.gate import ledger, paying_copy, told
from webapp.gate.premises import EVERY_ACT, Act, Check, Objection, Premises


def check_erasures(connection: Connection, premises: Premises) -> Iterator[Objection]:
    """Object to another installation's record, and where one that must be there is not.

    The record may hold later ones: without it nobody can tell whether a restored database brought
    people back. The start of a server carries out what the record says.
    """
    file = record_file(premises.instance)
    dialect = connection.dialect
    # Without keys nobody can tell whose it is; that they are missing is said elsewhere.
    if keys_of(dialect) is not None and begins_foreign(file, sealer_of(dialect)):
        yield Objection(
            f"the record of erasures at {file} belongs to another installation, or the keys are "
            "not those with which it was made. Of the people whom it names, none would be found",
            "Put the newest copy of this installation's own record in its place (beside the newest "
            "backup, or on another machine)",
        )
        return
    if file.exists() or not knows_erasures(connection):
        return
    yield Objection(
        f"people's data were erased, and the record of erasures is not at {file}. If the database "
        "was restored, people whose data had been erased may be in it again",
        "Take the newest copy of the record (beside the newest backup, or on another machine): "
        "parallax db record --add FILE. If this database was not restored, and the file is only "
        "new here: parallax db record --from-database",
    )


# With these, who is there goes on, and whoever comes is recognised.
_LITTLE = frozenset({Act.PUBLISH})


def check_keys(connection: Connection, premises: Premises) -> Iterator[Objection]:
    """Object where the keys in use, or those in the file, are not the database's."""
    known = known_keys(connection)
    if not known:
        return
    used = keys_of(connection.dialect)
    said = set[str]()
    for purpose, problem in key_problems(known, _of(used)) if used else ():
        said.add(problem)
        # Links that another machine gave out since are not understood here, and no more.
        lacks = purpose is Purpose.SIGNING and "lacks" in problem
        yield Objection(problem, REMEDY, _LITTLE if lacks else EVERY_ACT)
    # What is in the file counts at the next start.
    for problem in _problems_of_file(known, premises):
        if problem not in said:
            yield Objection(problem, REMEDY, _LITTLE if used else EVERY_ACT)


def _problems_of_file(known: Fingerprints, premises: Premises) -> Iterator[str]:
    given = premises.settings.secret_key_file
    path = key_file(premises.instance, given)
    try:
        state = path.stat()
        held = _in_file(premises.instance, given, (state.st_mtime_ns, state.st_size, state.st_ino))
    except OSError as error:
        yield f"the keys file {path} cannot be read ({error.strerror})"
    except WebappError as error:
        yield str(error)
    else:
        yield from (problem for _, problem in key_problems(known, held))


@lru_cache(8)
def _in_file(instance: Path, given: str, _state: tuple[int, int, int]) -> Fingerprints:
    return fingerprints(read_keys(instance, given))


_of = lru_cache(8)(fingerprints)


# A new check is a file of this folder and a line here.
CHECKS: Mapping[str, Check] = {
    "keys": check_keys,
    "erasures": check_erasures,
    "ledger": ledger.check,
    "paying_copy": paying_copy.check,
}
# What forbids nothing but what a job does is not asked for every newcomer.
_OF_JOBS: Mapping[str, Check] = {"told": told.check}
# What the checks that never forbid everything may forbid.
_FORBIDS = {"ledger": ledger.FORBIDS, "paying_copy": paying_copy.FORBIDS}
_PREMISES = "parallax_premises"


class GateError(WebappError):
    """An act is forbidden until something is mended."""


def put_up(engine: Engine, premises: Premises) -> None:
    """Let the gate of a database know which installation it belongs to."""
    setattr(engine.dialect, _PREMISES, premises)


def objections(connection: Connection) -> Iterator[tuple[str, Objection]]:
    """Yield what every check objects to, each with the name of the check.

    Raises:
        GateError: The database was opened without its installation (``put_up``).
    """
    yield from _objections(connection, {**CHECKS, **_OF_JOBS})


def refuse(act: Act, connection: Connection) -> None:
    """Let an act pass only if no check forbids it.

    Raises:
        GateError: One does; the error says why, and what to do.
    """
    # What forbids payments alone is not asked for newcomers.
    asked = {name: check for name, check in CHECKS.items() if act in _FORBIDS.get(name, EVERY_ACT)}
    for _, each in _objections(connection, asked):
        if act in each.forbids:
            raise GateError(
                f"the server does not {act} now: {each.says}",
                where="the installation",
                remedy=each.remedy,
            )


def ledger_begun(connection: Connection) -> None:
    """Prepare what lies beside the database for a payment or an offer; the connection writes."""
    premises = _premises(connection.dialect)
    paying_copy.begin(connection, premises)
    ledger.begun(connection, premises)


def ledger_written(connection: Connection) -> None:
    """Note beside the database how far its ledger has come; before the platform is called."""
    ledger.written(connection, _premises(connection.dialect))


def ledger_reconciled(connection: Connection, run_ref: str) -> None:
    """Note that the ledger has what the platform shows of a run; the connection writes."""
    ledger.reconciled(connection, _premises(connection.dialect), run_ref)


def calling(connection: Connection) -> None:
    """Count a call to a panel that must not be repeated, before it; the connection writes."""
    refuse(Act.TELL, connection)
    told.calling(connection, _premises(connection.dialect))


def may_be_told(connection: Connection) -> bool:
    """Return whether panels may have been told more than the database knows."""
    return told.doubtful(connection, _premises(connection.dialect))


def told_held(connection: Connection) -> None:
    """Note that what panels may know already is held; the connection writes."""
    told.settle(connection, _premises(connection.dialect))


def _objections(
    connection: Connection, checks: Mapping[str, Check]
) -> Iterator[tuple[str, Objection]]:
    premises = _premises(connection.dialect)
    for name, check in checks.items():
        for each in check(connection, premises):
            yield name, each


def _premises(dialect: Dialect) -> Premises:
    found: Premises | None = getattr(dialect, _PREMISES, None)
    if found is None:
        raise GateError("the database was opened without the installation that it belongs to")
    return found
