"""A run's bare address: whether it plainly takes whoever opens it, in one statement."""

from collections.abc import Hashable
from functools import cache

from sqlalchemy import Connection, Dialect, String, bindparam, exists, select

from webapp.database.models import Link, Project, Run
from webapp.database.prepared import Prepared
from webapp.gate.gate import refuse
from webapp.gate.premises import Act
from webapp.sessions.assign import free_in


@cache
def _takes(dialect: Dialect) -> Prepared:
    """Return what every arrival waits for, in one database's words; made once for each."""
    limited = exists().where(Project.id == Run.project_id, Project.most_participants > 0)
    return Prepared(
        select(free_in(Run.id)).where(
            Run.ref == bindparam("ref", type_=String),
            Run.closed_at.is_(None),
            ~exists().where(Link.run_id == Run.id),
            ~limited,
        ),
        dialect,
    )


def of_link(ref: str) -> Hashable:
    """Return what the page behind a run's bare address depends on."""
    return "link", ref


def takes_whoever_comes(connection: Connection, ref: str) -> bool:
    """Return whether a run plainly takes whoever opens its bare address.

    It is open, has a free place, and neither links of its own nor a limit of its project.

    Args:
        connection: An open transaction.
        ref: The run's reference.

    Raises:
        GateError: Nobody is admitted until something is mended.
    """
    found = _takes(connection.dialect).find(connection, ref=ref)
    if not found or (found[0][0] or 0) <= 0:
        return False
    refuse(Act.ADMIT, connection)
    return True
