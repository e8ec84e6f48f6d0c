"""All checks, in the order of the report, including the start-up gate's checks."""

from collections.abc import Callable, Iterator, Mapping

from sqlalchemy.exc import SQLAlchemyError

from webapp.database.remedies import remedy_for
from webapp.database.schema import revisions, stored_revision
from webapp.doctor import machine, services, web
from webapp.doctor.findings import Finding, Installation, Level
from webapp.doctor.machine import network_time, owners, writes
from webapp.doctor.services import connections, retention
from webapp.doctor.web import certificate
from webapp.errors import WebappError
from webapp.gate.gate import attach, blockers
from webapp.gate.installation import Installation as GateInstallation


def gate(at: Installation) -> Iterator[Finding]:
    """Run every check of the gate; each check that blocks an operation is a fault."""
    if at.engine is None or stored_revision(at.engine) != revisions()[-1]:
        yield Finding("gate", Level.GOOD, "not checked: the database cannot be used yet")
        return
    attach(at.engine, GateInstallation(at.folder, at.settings))
    clean = True
    with at.engine.connect().execution_options(reading=True) as connection:
        for name, blocker in blockers(connection):
            clean = False
            acts = ", ".join(sorted(blocker.forbids))
            say = f"{name}: {blocker.says}. Until this is mended, the server does not {acts}"
            yield Finding("gate", Level.FAULT, say, blocker.remedy)
    if clean:
        yield Finding("gate", Level.GOOD, "nothing forbids to admit, pay, publish or export")


Check = Callable[[Installation], Iterator[Finding]]
CHECKS: Mapping[str, Check] = {
    "database": services.database,
    "owners": owners,
    "writes": writes,
    "connections": connections,
    "gate": gate,
    "key": machine.key,
    "files": machine.files,
    "disk": machine.disk,
    "open_files": machine.open_files,
    "clock": services.clock,
    "network_time": network_time,
    "backup": services.backup,
    "jobs": services.jobs,
    "ready": web.ready,
    "retention": retention,
    "hosts": web.hosts,
    "web": web.web,
    "certificate": certificate,
    "log": machine.log,
}


def look_over(at: Installation) -> Iterator[Finding]:
    """Yield the findings of every check.

    A check that fails is a fault, and the others still run.
    """
    for name, check in CHECKS.items():
        try:
            yield from check(at)
        except (SQLAlchemyError, OSError, WebappError) as error:
            reason = str(getattr(error, "orig", None) or error).partition("\n")[0]
            say = f"it could not be checked: {reason}"
            yield Finding(name, Level.FAULT, say, remedy_for(reason))
