"""Whether the record of erasures lies beside a database in which somebody was forgotten."""

from collections.abc import Iterator

from sqlalchemy import Connection, select

from experiment.participation import EventKind
from webapp.database.models import Event
from webapp.gate.premises import Objection, Premises

_RECORD = "forgotten"


def check(connection: Connection, premises: Premises) -> Iterator[Objection]:
    """Object where people were forgotten and the record of it is not in the instance folder."""
    if (premises.instance / _RECORD).exists():
        return
    gone = select(Event.id).where(Event.kind == EventKind.FORGOTTEN)
    if connection.scalar(gone.limit(1)) is not None:
        yield Objection(
            f"people were forgotten, and the file {premises.instance / _RECORD} is not there, so a"
            " restored backup could bring people back",
            f"Put the newest copy of the file `{_RECORD}` into the instance folder",
        )
