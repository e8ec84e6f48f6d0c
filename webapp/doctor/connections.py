"""Whether PostgreSQL admits as many connections as this installation may open."""

from collections.abc import Iterator

from sqlalchemy import text

from webapp.core.processes import connections_of
from webapp.doctor.findings import Finding, Installation, Level

_NEARLY = 0.9


def connections(at: Installation) -> Iterator[Finding]:
    """Compare PostgreSQL's limits with what one machine needs, and look at how many are open."""
    if at.engine is None or at.engine.dialect.name == "sqlite":
        yield Finding("connections", Level.GOOD, "SQLite has no limit of connections")
        return
    with at.engine.connect().execution_options(reading=True) as connection:
        most, of_role, used = connection.execute(
            # What a session is, PostgreSQL shows to its own role alone; its database, to everybody.
            text(
                "SELECT current_setting('max_connections')::int"
                " - current_setting('superuser_reserved_connections')::int,"
                " (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user),"
                " (SELECT count(*) FROM pg_stat_activity WHERE datid IS NOT NULL)"
            )
        ).one()
    most = min(most, of_role) if of_role is not None and of_role >= 0 else most
    needed = connections_of(at.settings.workers)
    say = f"PostgreSQL admits {most} connections; this machine may open {needed}; {used} are open"
    remedy = "Raise max_connections (or the role's CONNECTION LIMIT): docs/database.md#connections"
    if needed > most:
        yield Finding("connections", Level.FAULT, say, remedy)
    elif used > _NEARLY * most:
        yield Finding("connections", Level.WARNING, say, remedy)
    else:
        yield Finding("connections", Level.GOOD, say)
