"""Maintenance of sealed data: delete unused names, and apply new keys."""

from collections.abc import Iterator
from functools import cache

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Dialect,
    Engine,
    bindparam,
    delete,
    exists,
    or_,
    select,
    type_coerce,
    update,
)
from sqlalchemy.orm import Session
from sqlalchemy.types import String

from webapp.database.models import Assignment, Base, Identity, LinkVisit, Participant, Payment
from webapp.database.models.identity import SealedText, sealer_of
from webapp.database.prepared import Prepared
from webapp.errors import WebappError

_REFERRING = (
    Participant.person_key,
    Assignment.work_key,
    Assignment.worker_key,
    Payment.worker_key,
    Payment.work_key,
    LinkVisit.said_key,
)
# The stored values; elsewhere, these columns are read and compared as names.
_HASH, _SEALED = (type_coerce(column, String) for column in (Identity.hash, Identity.sealed))


def sweep(session: Session) -> None:
    """Delete the names to which no row refers any more."""
    used = or_(*(exists().where(key == Identity.id) for key in _REFERRING))
    session.execute(delete(Identity).where(~used).execution_options(synchronize_session=False))


def renew_digests(engine: Engine) -> None:
    """Compute every digest again that was made with an older key, e.g. in a restored backup.

    Raises:
        WebappError: A digest was made with a newer key, which this machine lacks. Without it,
            participants of other machines would not be recognised, and could take part twice.
    """
    prefix = sealer_of(engine.dialect).digest_prefix
    with engine.connect().execution_options(reading=True) as connection:
        others = _unlike(engine.dialect).find(connection, ours=f"{prefix}%")
    made_with = {int(digest.partition(".")[0]) for (digest,) in others}
    if not made_with:
        return
    if (newer := max(made_with)) > int(prefix.rstrip(".")):
        raise WebappError(
            f"the database needs key {newer} for pseudonyms to recognise people, and the keys "
            "file lacks it",
            where="the keys file",
            expected="the keys file of the machine on which the keys were rotated",
            remedy=(
                "Copy that file here, with `secret_key_file` or as `secret_key`. If the key "
                "is lost, add a new one with a higher id"
            ),
        )
    with engine.begin() as connection:
        seal_anew(connection)


@cache
def _unlike(dialect: Dialect) -> Prepared:
    """Return the prepared statement that every start executes twice, one per database dialect."""
    return Prepared(select(_HASH).where(_HASH.not_like(bindparam("ours"))), dialect)


def seal_anew(connection: Connection) -> int:
    """Seal and digest with the newest keys everything that used older ones; return the number."""
    sealer = sealer_of(connection.dialect)
    rows = connection.execute(select(Identity.id, _HASH, _SEALED)).all()
    old = [
        (id_, sealed)
        for id_, digest, sealed in rows
        if not (digest.startswith(sealer.digest_prefix) and sealed.startswith(sealer.seal_prefix))
    ]
    for id_, sealed in old:
        name = sealer.open(sealed)
        values = {"hash": name, "sealed": name}
        connection.execute(update(Identity).where(Identity.id == id_).values(values))
    for column, stored in _texts():
        outdated = select(column.table.c.id, stored).where(
            stored != "", stored.not_like(f"{sealer.seal_prefix}%")
        )
        for id_, sealed in connection.execute(outdated).all():
            row = update(column.table).where(column.table.c.id == id_)
            connection.execute(row.values({column.name: sealer.open(sealed)}))
    return len(old)


def keys_in_use(connection: Connection) -> frozenset[int]:
    """Return the ids of the keys with which any data are sealed or digested."""
    rows = connection.execute(select(_HASH, _SEALED))
    used = {int(text.partition(".")[0]) for row in rows for text in row}
    for _, stored in _texts():
        texts = connection.scalars(select(stored).where(stored != ""))
        used |= {int(text.partition(".")[0]) for text in texts}
    return frozenset(used)


def sealed_columns() -> Iterator[tuple[str, str]]:
    """Yield the table and the name of every column with sealed texts."""
    for column, _ in _texts():
        yield column.table.name, column.name


def _texts() -> Iterator[tuple[Column[str], ColumnElement[str]]]:
    """Yield every column with sealed texts, and an expression for its stored values."""
    for table in Base.metadata.sorted_tables:
        for column in table.columns:
            if isinstance(column.type, SealedText):
                yield column, type_coerce(column, String)
