"""Reading and writing what the database says of itself."""

from sqlalchemy import Connection, delete, insert, select

from webapp.database.models import Stamp


def stamp_of(connection: Connection, name: str) -> str | None:
    """Return the text under a name; None where there is none."""
    return connection.scalar(select(Stamp.value).where(Stamp.name == name))


def set_stamp(connection: Connection, name: str, value: str) -> None:
    """Put a text under a name, in the caller's transaction."""
    connection.execute(delete(Stamp).where(Stamp.name == name))
    connection.execute(insert(Stamp), {"name": name, "value": value})


def forget_stamps(connection: Connection, beginning: str) -> None:
    """Take away every text whose name begins so, in the caller's transaction."""
    connection.execute(delete(Stamp).where(Stamp.name.startswith(beginning, autoescape=True)))
