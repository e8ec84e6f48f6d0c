"""All checks together: what is asked before somebody is admitted or paid, or a run published."""

from collections.abc import Iterator, Mapping

from sqlalchemy import Connection, Dialect, Engine

from webapp.errors import WebappError
from webapp.gate import erasures, keys, ledger, paying_copy, told
from webapp.gate.premises import EVERY_ACT, Act, Check, Objection, Premises

# A new check is a file of this folder and a line here.
CHECKS: Mapping[str, Check] = {
    "keys": keys.check,
    "erasures": erasures.check,
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
