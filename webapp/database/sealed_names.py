"""The table of sealed names as a whole: what nothing refers to any more, and new keys."""

from sqlalchemy import Connection, Engine, delete, exists, or_, select, type_coerce, update
from sqlalchemy.orm import Session
from sqlalchemy.types import String

from webapp.database.models import Assignment, Identity, LinkVisit, Participant, Payment
from webapp.database.models.identity import sealer_of
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
    others = select(_HASH).where(_HASH.not_like(f"{prefix}%"))
    with engine.connect().execution_options(reading=True) as connection:
        made_with = {int(digest.partition(".")[0]) for digest in connection.scalars(others)}
    if not made_with:
        return
    if (newer := max(made_with)) > int(prefix.rstrip(".")):
        raise WebappError(
            f"the database knows people by key {newer} for pseudonyms, which is not in the keys",
            where="the file of the keys",
            expected="the file of the machine on which the keys were rotated",
            remedy="Copy that file here, with `secret_key_file` or as `secret_key`; where the key"
            " is lost, give another one a higher id",
        )
    with engine.begin() as connection:
        seal_anew(connection)


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
    return len(old)


def keys_in_use(connection: Connection) -> frozenset[int]:
    """Return the ids of the keys with which something is sealed or digested."""
    rows = connection.execute(select(_HASH, _SEALED))
    return frozenset(int(text.partition(".")[0]) for row in rows for text in row)
