"""Read and write stamps: short named texts about the installation."""

from sqlalchemy import Connection, delete, insert, select

from webapp.database.models import Stamp


def stamp_of(connection: Connection, name: str) -> str | None:
    """Return the stamp with a name; None if there is none."""
    return connection.scalar(select(Stamp.value).where(Stamp.name == name))


def set_stamp(connection: Connection, name: str, value: str) -> None:
    """Set the stamp with a name, in the caller's transaction."""
    connection.execute(delete(Stamp).where(Stamp.name == name))
    connection.execute(insert(Stamp), {"name": name, "value": value})


def forget_stamps(connection: Connection, beginning: str) -> None:
    """Delete every stamp whose name has this prefix, in the caller's transaction."""
    connection.execute(delete(Stamp).where(Stamp.name.startswith(beginning, autoescape=True)))
