"""The identity of a database's keys: the database stores a fingerprint of each.

With other keys, existing links would not work, and returning participants would not be recognised,
so that they could take part and be paid twice. Therefore, no server starts with other keys, and
keys are made only for a database without participants.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Dialect,
    Engine,
    bindparam,
    delete,
    exists,
    insert,
    inspect,
    or_,
    select,
    type_coerce,
    update,
)
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from sqlalchemy.types import String

from webapp.core.keys import Key, Keys, Purpose
from webapp.core.sealing import Sealer
from webapp.database.models import (
    Assignment,
    Base,
    Identity,
    LinkVisit,
    Participant,
    Payment,
    Stamp,
)
from webapp.database.models.identity import SealedText, sealer_of
from webapp.database.prepared import Prepared
from webapp.errors import WebappError

_STAMP_PREFIX = "key "
_FINGERPRINT_BYTES = 16
KEYS_REMEDY = (
    "Put the keys file of this database into its place: the copy that you keep, or the file of the "
    "machine on which keys were rotated last. If it is lost for ever: parallax keys adopt, or "
    "parallax db restore --keys-lost"
)

Fingerprints = Mapping[tuple[Purpose, int], str]


class StoredName(NamedTuple):
    """A name as stored: encrypted, and as a digest."""

    sealed: str
    digest: str


def fingerprints(keys: Keys) -> Fingerprints:
    """Return a fingerprint of each key, which reveals nothing about it, by purpose and id."""
    return {
        (purpose, key.id): _compute_fingerprint(purpose, key)
        for purpose in Purpose
        for key in keys.for_purpose(purpose)
    }


def _compute_fingerprint(purpose: Purpose, key: Key) -> str:
    info = f"parallax fingerprint {purpose}".encode()
    key_derivation = HKDF(SHA256(), _FINGERPRINT_BYTES, salt=None, info=info)
    return key_derivation.derive(key.secret.encode()).hex()


def read_fingerprints(connection: Connection) -> Fingerprints:
    """Return the fingerprints of the keys with which the database was written."""
    return read_stamps(_prepare_fingerprints(connection.dialect).fetch(connection))


@cache
def _prepare_fingerprints(dialect: Dialect) -> Prepared:
    """Return the prepared statement for the fingerprints, one per database dialect."""
    is_fingerprint = Stamp.name.startswith(_STAMP_PREFIX)
    return Prepared(select(Stamp.name, Stamp.value).where(is_fingerprint), dialect)


def read_stamps(rows: Iterable[Sequence[str]]) -> Fingerprints:
    """Return the fingerprints among stamps, given as names and values."""
    words = ((name.split(), value) for name, value in rows if name.startswith(_STAMP_PREFIX))
    return {(Purpose(purpose), int(id_)): value for (_, purpose, id_), value in words}


def key_problems(known: Fingerprints, held: Fingerprints) -> Iterator[tuple[Purpose, str]]:
    """Yield each reason why the given keys are not the database's, with the purpose.

    An older key that the file lacks is no problem: it may have been dropped after a backup was made
    that was restored since.
    """
    if known == held:
        return
    same_keys = {key for key, value in known.items() if held.get(key) == value}
    if known and not same_keys:
        yield Purpose.PSEUDONYMS, "none of the keys in the keys file is a key of this database"
        return
    for purpose in Purpose:
        ids = sorted(id_ for use, id_ in known if use is purpose)
        newest = max((id_ for use, id_ in held if use is purpose), default=-1)
        other_ids = [n for n in ids if (purpose, n) in held and (purpose, n) not in same_keys]
        if other_ids:
            yield purpose, f"key {other_ids[0]} for {purpose} is not the key of this database"
        elif ids and ids[-1] > newest:
            words = f"the keys file lacks key {ids[-1]} for {purpose}"
            yield purpose, f"{words}, with which this database was written"


def verify_keys(engine: Engine, keys: Keys) -> None:
    """Check that the keys belong to the database, and store the fingerprints of new ones.

    Args:
        engine: A database with this code's schema.
        keys: The keys to be used.

    Raises:
        WebappError: The keys are not the database's.
    """
    key_fingerprints = fingerprints(keys)
    with engine.connect().execution_options(reading=True) as connection:
        stored_fingerprints = read_fingerprints(connection)
        refuse_other_keys(
            stored_fingerprints,
            None if stored_fingerprints else _find_newest_name(connection),
            keys,
        )
    newest = {
        purpose: max((n for p, n in stored_fingerprints if p is purpose), default=-1)
        for purpose in Purpose
    }
    # An older key without a fingerprint was dropped on another machine.
    new = {key: value for key, value in key_fingerprints.items() if key[1] > newest[key[0]]}
    if not new:
        return
    rows = [{"name": _stamp_name(*key), "value": value} for key, value in new.items()]
    try:
        with engine.begin() as connection:
            connection.execute(insert(Stamp), rows)
    except IntegrityError:
        # Another machine started at the same moment, with these keys or with others.
        with engine.connect().execution_options(reading=True) as connection:
            refuse_other_keys(read_fingerprints(connection), None, keys)


def refuse_other_keys(known: Fingerprints, name: StoredName | None, keys: Keys) -> None:
    """Raise an error if the keys are not those of a database or backup.

    Args:
        known: The stored fingerprints.
        name: The newest name, which the keys must open if there are no fingerprints yet.
        keys: The available keys.

    Raises:
        WebappError: The keys are others.
    """
    for _, problem in key_problems(known, fingerprints(keys)):
        raise other_keys_error(problem)
    if not known and name is not None and not _can_open(name, Sealer(keys)):
        raise other_keys_error("the names in the database were encrypted with other keys")


def other_keys_error(problem: str) -> WebappError:
    """Return the error for keys that are not the database's."""
    return WebappError(
        f"the keys do not belong to the database: {problem}",
        where="the keys file (`secret_key`, or what `secret_key_file` names)",
        expected=(
            "the keys with which participants' links were made; with other keys the links open "
            "nothing, and people could take part twice"
        ),
        remedy=KEYS_REMEDY,
    )


def _find_newest_name(connection: Connection) -> StoredName | None:
    stored_columns = type_coerce(Identity.sealed, String), type_coerce(Identity.hash, String)
    newest = (
        select(*stored_columns).where(Identity.forgotten.is_(False)).order_by(Identity.id.desc())
    )
    row = connection.execute(newest.limit(1)).first()
    return None if row is None else StoredName(*row)


def _can_open(name: StoredName, sealer: Sealer) -> bool:
    """Return whether the keys open a name and produce its digest."""
    try:
        text = sealer.open(name.sealed)
    except WebappError:
        return False
    # Digests of a lost key are computed again from the names.
    is_lost = int(name.digest.partition(".")[0]) not in sealer.digest_ids
    return is_lost or name.digest in sealer.digests(text)


def forget_key(connection: Connection, id_: int) -> None:
    """Delete the fingerprint of a dropped key."""
    connection.execute(delete(Stamp).where(Stamp.name.in_([_stamp_name(p, id_) for p in Purpose])))


def replace_keys(engine: Engine, keys: Keys) -> None:
    """Store these keys' fingerprints in place of those that the database has.

    Raises:
        WebappError: The keys do not open the database's names.
    """
    rows = [
        {"name": _stamp_name(*key), "value": value} for key, value in fingerprints(keys).items()
    ]
    with engine.begin() as connection:
        refuse_other_keys({}, _find_newest_name(connection), keys)
        connection.execute(delete(Stamp).where(Stamp.name.startswith(_STAMP_PREFIX)))
        connection.execute(insert(Stamp), rows)


def has_people_or_keys(engine: Engine) -> bool:
    """Return whether a database with any schema has participants or key fingerprints."""
    with engine.connect().execution_options(reading=True) as connection:
        tables = inspect(connection)
        if tables.has_table(Stamp.__tablename__) and read_fingerprints(connection):
            return True
        if not tables.has_table(Participant.__tablename__):
            return False
        return connection.scalar(select(Participant.id).limit(1)) is not None


def _stamp_name(purpose: Purpose, id_: int) -> str:
    return f"{_STAMP_PREFIX}{purpose} {id_}"


_NAME_REFERENCES = (
    Participant.person_key,
    Assignment.work_key,
    Assignment.worker_key,
    Payment.worker_key,
    Payment.work_key,
    LinkVisit.said_key,
)
# The stored values; elsewhere, these columns are read and compared as names.
_HASH, _SEALED = (type_coerce(column, String) for column in (Identity.hash, Identity.sealed))


def delete_unused_names(session: Session) -> None:
    """Delete the names to which no row refers any more."""
    is_used = or_(*(exists().where(key == Identity.id) for key in _NAME_REFERENCES))
    session.execute(delete(Identity).where(~is_used).execution_options(synchronize_session=False))


def renew_digests(engine: Engine) -> None:
    """Compute every digest again that was made with an older key, e.g. in a restored backup.

    Raises:
        WebappError: A digest was made with a newer key, which this machine lacks. Without it,
            participants of other machines would not be recognised, and could take part twice.
    """
    prefix = sealer_of(engine.dialect).digest_prefix
    with engine.connect().execution_options(reading=True) as connection:
        names_under_other_keys = _prepare_outdated_digests(engine.dialect).fetch(
            connection, ours=f"{prefix}%"
        )
    made_with = {int(digest.partition(".")[0]) for (digest,) in names_under_other_keys}
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
        reseal(connection)


@cache
def _prepare_outdated_digests(dialect: Dialect) -> Prepared:
    """Return the prepared statement that every start executes twice, one per database dialect."""
    return Prepared(select(_HASH).where(_HASH.not_like(bindparam("ours"))), dialect)


def reseal(connection: Connection) -> int:
    """Encrypt and digest again, with the newest keys, what used older ones; return how much."""
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
    for column, stored in _list_sealed_columns():
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
    used_ids = {int(text.partition(".")[0]) for row in rows for text in row}
    for _, stored in _list_sealed_columns():
        texts = connection.scalars(select(stored).where(stored != ""))
        used_ids |= {int(text.partition(".")[0]) for text in texts}
    return frozenset(used_ids)


def sealed_columns() -> Iterator[tuple[str, str]]:
    """Yield the table and the name of every column with sealed texts."""
    for column, _ in _list_sealed_columns():
        yield column.table.name, column.name


def _list_sealed_columns() -> Iterator[tuple[Column[str], ColumnElement[str]]]:
    """Yield every column with sealed texts, and an expression for its stored values."""
    for table in Base.metadata.sorted_tables:
        for column in table.columns:
            if isinstance(column.type, SealedText):
                yield column, type_coerce(column, String)
