"""All that is sealed: names to which nothing refers any more, and new keys."""

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
# As they are stored: what is read and compared elsewhere is the name.
_HASH, _SEALED = (type_coerce(column, String) for column in (Identity.hash, Identity.sealed))


def sweep(session: Session) -> None:
    """Delete the names to which nothing refers any more."""
    used = or_(*(exists().where(key == Identity.id) for key in _REFERRING))
    session.execute(delete(Identity).where(~used).execution_options(synchronize_session=False))


def renew_digests(engine: Engine) -> None:
    """Make every digest anew that was made under an older key, as after a restored backup.

    Raises:
        WebappError: One was made under a newer key, which this machine has not got. It would find
            nobody whom the other machines know, and let everybody in twice.
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
    """Return the statement that every start asks twice, made once for each database."""
    return Prepared(select(_HASH).where(_HASH.not_like(bindparam("ours"))), dialect)


def seal_anew(connection: Connection) -> int:
    """Seal and digest with the newest keys whatever older ones did, and return how many."""
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
    """Return the ids of the keys with which something is sealed or digested."""
    rows = connection.execute(select(_HASH, _SEALED))
    used = {int(text.partition(".")[0]) for row in rows for text in row}
    for _, stored in _texts():
        texts = connection.scalars(select(stored).where(stored != ""))
        used |= {int(text.partition(".")[0]) for text in texts}
    return frozenset(used)


def sealed_columns() -> Iterator[tuple[str, str]]:
    """Yield the table and the name of every column of sealed texts."""
    for column, _ in _texts():
        yield column.table.name, column.name


def _texts() -> Iterator[tuple[Column[str], ColumnElement[str]]]:
    """Yield every column of sealed texts, and what reads it as it is stored."""
    for table in Base.metadata.sorted_tables:
        for column in table.columns:
            if isinstance(column.type, SealedText):
                yield column, type_coerce(column, String)
