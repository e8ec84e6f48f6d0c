"""All checks of the gate, run before admissions, payments, publications and exports."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from sqlalchemy import Connection, Dialect, Engine

from webapp.core.instance import key_file
from webapp.core.keys import Purpose, read_keys
from webapp.database.key_identity import (
    KEYS_REMEDY,
    Fingerprints,
    fingerprints,
    key_problems,
    read_fingerprints,
)
from webapp.database.models.identity import keys_of, sealer_of
from webapp.erasures.file import get_record_path
from webapp.erasures.record import has_foreign_owner, has_stored_entries
from webapp.errors import WebappError
from webapp.gate import ledger, panel_call_counter, paying_copy
from webapp.gate.installation import EVERY_OPERATION, Blocker, Check, Installation, Operation


def check_erasures(connection: Connection, installation: Installation) -> Iterator[Blocker]:
    """Yield a blocker if the record of erasures is missing or belongs to another installation.

    The record may be newer than the database: without it, a restored database may contain data that
    participants have had erased. The server carries out the record's entries at start-up.
    """
    path = get_record_path(installation.instance)
    dialect = connection.dialect
    # Without keys, the record's owner cannot be checked; another check reports missing keys.
    if keys_of(dialect) is not None and has_foreign_owner(path, sealer_of(dialect)):
        yield Blocker(
            f"the record of erasures at {path} belongs to another installation, or the keys are "
            "not those with which it was made. None of the people in it would be found",
            "Replace it with the newest copy of this installation's own record (next to the "
            "newest backup, or on another machine)",
        )
        return
    if path.exists() or not has_stored_entries(connection):
        return
    yield Blocker(
        f"data were erased, but the record of erasures is missing at {path}. If the database was "
        "restored, it may contain the erased data again",
        "Take the newest copy of the record (next to the newest backup, or on another machine): "
        "parallax db record --add FILE. If this database was not restored and only the file is "
        "missing: parallax db record --from-database",
    )


# With these keys, current sessions continue and returning participants are recognised.
_ONLY_PUBLISHING = frozenset({Operation.PUBLISH})


def check_keys(connection: Connection, installation: Installation) -> Iterator[Blocker]:
    """Yield a blocker if the keys in use or the keys in the file are not those of the database."""
    stored = read_fingerprints(connection)
    if not stored:
        return
    in_use = keys_of(connection.dialect)
    reported_keys = set[str]()
    for purpose, problem in key_problems(stored, _compute_fingerprints(in_use)) if in_use else ():
        reported_keys.add(problem)
        # Only newer links issued by another machine cannot be read here.
        lacks_signing_key = purpose is Purpose.SIGNING and "lacks" in problem
        yield Blocker(
            problem, KEYS_REMEDY, _ONLY_PUBLISHING if lacks_signing_key else EVERY_OPERATION
        )
    # The keys in the file take effect at the next start.
    for problem in _find_key_file_problems(stored, installation):
        if problem not in reported_keys:
            yield Blocker(problem, KEYS_REMEDY, _ONLY_PUBLISHING if in_use else EVERY_OPERATION)


def _find_key_file_problems(stored: Fingerprints, installation: Installation) -> Iterator[str]:
    key_setting = installation.settings.secret_key_file
    path = key_file(installation.instance, key_setting)
    try:
        state = path.stat()
        in_file = _read_fingerprints(
            installation.instance, key_setting, (state.st_mtime_ns, state.st_size, state.st_ino)
        )
    except OSError as error:
        yield f"the keys file {path} cannot be read ({error.strerror})"
    except WebappError as error:
        yield str(error)
    else:
        yield from (problem for _, problem in key_problems(stored, in_file))


@lru_cache(8)
def _read_fingerprints(
    instance: Path, key_setting: str, _state: tuple[int, int, int]
) -> Fingerprints:
    return fingerprints(read_keys(instance, key_setting))


_compute_fingerprints = lru_cache(8)(fingerprints)


# A new check needs a module in this folder and a line here.
CHECKS: Mapping[str, Check] = {
    "keys": check_keys,
    "erasures": check_erasures,
    "ledger": ledger.check_ledger,
    "paying_copy": paying_copy.check_paying_copy,
}
# Checks that block only operations of jobs do not run for every new participant.
_JOB_CHECKS: Mapping[str, Check] = {"told": panel_call_counter.check_panel_calls}
# The operations that a check may block, for checks that never block all of them.
_BLOCKED_OPERATIONS = {"ledger": ledger.FORBIDS, "paying_copy": paying_copy.FORBIDS}
_ATTACHED = "parallax_installation"


class GateError(WebappError):
    """An operation is blocked until a problem is repaired."""


def attach_installation(engine: Engine, installation: Installation) -> None:
    """Attach the installation to a database engine, for the gate to compare."""
    setattr(engine.dialect, _ATTACHED, installation)


def find_blockers(connection: Connection) -> Iterator[tuple[str, Blocker]]:
    """Yield every blocker found, with the name of its check.

    Raises:
        GateError: The database was opened without its installation (``attach_installation``).
    """
    yield from _run_checks(connection, {**CHECKS, **_JOB_CHECKS})


def refuse_if_blocked(operation: Operation, connection: Connection) -> None:
    """Raise an error if a check blocks the operation.

    Raises:
        GateError: A check blocks it; the error contains the reason and the remedy.
    """
    # Checks that block only payments do not run for new participants.
    checks = {
        name: check
        for name, check in CHECKS.items()
        if operation in _BLOCKED_OPERATIONS.get(name, EVERY_OPERATION)
    }
    for _, blocker in _run_checks(connection, checks):
        if operation in blocker.forbids:
            raise GateError(
                f"the server does not {operation} now: {blocker.problem}",
                where="the installation",
                remedy=blocker.remedy,
            )


def begin_ledger_entry(connection: Connection) -> None:
    """Prepare the ledger's files in the instance folder for a payment or an offer.

    Writes to the database.
    """
    installation = _get_installation(connection.dialect)
    paying_copy.begin_paying(connection, installation)
    ledger.ensure_file(connection, installation)


def store_ledger_state(connection: Connection) -> None:
    """Store the ledger's state in the instance folder, before the platform is called."""
    ledger.store_state(connection, _get_installation(connection.dialect))


def record_reconciliation(connection: Connection, run_ref: str) -> None:
    """Record that the ledger matches the platform's data on a run; writes to the database."""
    ledger.record_reconciled(connection, _get_installation(connection.dialect), run_ref)


def count_panel_call(connection: Connection) -> None:
    """Count a panel call that must not be repeated, before it is made; writes to the database."""
    refuse_if_blocked(Operation.TELL_PANELS, connection)
    panel_call_counter.count_call(connection, _get_installation(connection.dialect))


def has_doubtful_panel_calls(connection: Connection) -> bool:
    """Return whether panels may have received calls that the database does not know of."""
    return panel_call_counter.is_doubtful(connection, _get_installation(connection.dialect))


def settle_panel_calls(connection: Connection) -> None:
    """Record that all doubtful panel calls are on hold; writes to the database."""
    panel_call_counter.settle_calls(connection, _get_installation(connection.dialect))


def _run_checks(
    connection: Connection, checks: Mapping[str, Check]
) -> Iterator[tuple[str, Blocker]]:
    installation = _get_installation(connection.dialect)
    for name, check in checks.items():
        for blocker in check(connection, installation):
            yield name, blocker


def _get_installation(dialect: Dialect) -> Installation:
    installation: Installation | None = getattr(dialect, _ATTACHED, None)
    if installation is None:
        raise GateError("the database was opened without the installation that it belongs to")
    return installation
