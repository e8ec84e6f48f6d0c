"""Whether this installation's record of erasures lies beside a database that knows of erasures."""

from collections.abc import Iterator

from sqlalchemy import Connection

from webapp.database.models.identity import keys_of, sealer_of
from webapp.erasures.file import record_file
from webapp.erasures.owner import begins_foreign
from webapp.erasures.record import knows_erasures
from webapp.gate.premises import Objection, Premises


def check(connection: Connection, premises: Premises) -> Iterator[Objection]:
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
