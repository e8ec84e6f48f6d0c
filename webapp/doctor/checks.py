"""All checks, in the order of the report."""

from collections.abc import Callable, Iterator, Mapping

from sqlalchemy.exc import SQLAlchemyError

from webapp.database.remedies import remedy_for
from webapp.doctor import files, services, web
from webapp.doctor.certificate import certificate
from webapp.doctor.connections import connections
from webapp.doctor.findings import Finding, Installation, Level
from webapp.doctor.gate import gate
from webapp.doctor.network_time import network_time
from webapp.doctor.retention import retention
from webapp.doctor.writes import owners, writes
from webapp.errors import WebappError

Check = Callable[[Installation], Iterator[Finding]]

CHECKS: Mapping[str, Check] = {
    "database": services.database,
    "owners": owners,
    "writes": writes,
    "connections": connections,
    "gate": gate,
    "key": files.key,
    "files": files.files,
    "disk": files.disk,
    "open_files": files.open_files,
    "clock": services.clock,
    "network_time": network_time,
    "backup": services.backup,
    "jobs": services.jobs,
    "ready": web.ready,
    "retention": retention,
    "hosts": web.hosts,
    "web": web.web,
    "certificate": certificate,
    "log": files.log,
}


def look_over(at: Installation) -> Iterator[Finding]:
    """Yield what every check says; one that cannot be made is a fault, and the others go on."""
    for name, check in CHECKS.items():
        try:
            yield from check(at)
        except (SQLAlchemyError, OSError, WebappError) as error:
            said = str(getattr(error, "orig", None) or error).partition("\n")[0]
            say = f"it could not be checked: {said}"
            yield Finding(name, Level.FAULT, say, remedy_for(said))
