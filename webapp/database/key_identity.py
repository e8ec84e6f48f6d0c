"""Which keys a database was written with: it keeps a fingerprint of each.

Under other keys, links that were given out open nothing, and people who come again are not
recognised, so that they could take part and be paid twice. So nothing starts under other keys, and
keys are made only where the database knows nobody yet.
"""

from collections.abc import Iterator, Mapping

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from sqlalchemy import Connection, Engine, delete, insert, inspect, select, type_coerce
from sqlalchemy.exc import IntegrityError
from sqlalchemy.types import String

from webapp.core.keys import Key, Keys, Purpose
from webapp.core.sealing import Sealer
from webapp.database.models import Identity, Participant, Stamp
from webapp.errors import WebappError

_STAMP = "key"
_FINGERPRINT_BYTES = 16
REMEDY = (
    "Put the keys file of this database into its place: the copy that you keep, or the file of the "
    "machine on which keys were rotated last. If it is lost for ever: parallax keys adopt"
)

Fingerprints = Mapping[tuple[Purpose, int], str]


def fingerprints(keys: Keys) -> Fingerprints:
    """Return what identifies each key and reveals nothing of it, by purpose and id."""
    return {
        (purpose, key.id): _fingerprint(purpose, key)
        for purpose in Purpose
        for key in keys.of(purpose)
    }


def _fingerprint(purpose: Purpose, key: Key) -> str:
    info = f"parallax fingerprint {purpose}".encode()
    derived = HKDF(SHA256(), _FINGERPRINT_BYTES, salt=None, info=info)
    return derived.derive(key.secret.encode()).hex()


def known_keys(connection: Connection) -> Fingerprints:
    """Return the fingerprints of the keys that the database was written with."""
    rows = connection.execute(
        select(Stamp.name, Stamp.value).where(Stamp.name.startswith(f"{_STAMP} "))
    )
    words = ((name.split(), value) for name, value in rows)
    return {(Purpose(purpose), int(id_)): value for (_, purpose, id_), value in words}


def key_problems(known: Fingerprints, held: Fingerprints) -> Iterator[tuple[Purpose, str]]:
    """Yield why the keys held are not the database's, with the purpose; nothing where they are.

    An older key that the file lacks was dropped since, as after the restore of an old backup.
    """
    same = {each for each, value in known.items() if held.get(each) == value}
    if known and not same:
        yield Purpose.PSEUDONYMS, "none of the keys in the keys file is a key of this database"
        return
    for purpose in Purpose:
        ids = sorted(id_ for each, id_ in known if each is purpose)
        newest = max((id_ for each, id_ in held if each is purpose), default=-1)
        other = [n for n in ids if (purpose, n) in held and (purpose, n) not in same]
        if other:
            yield purpose, f"key {other[0]} for {purpose} is not the key of this database"
        elif ids and ids[-1] > newest:
            words = f"the keys file lacks key {ids[-1]} for {purpose}"
            yield purpose, f"{words}, with which this database was written"


def recognise(engine: Engine, keys: Keys) -> None:
    """Let keys pass that are the database's, and note those that it has not met yet.

    Args:
        engine: A database of this code's schema.
        keys: The keys that it is to be used with.

    Raises:
        WebappError: They are not the database's.
    """
    held = fingerprints(keys)
    with engine.connect().execution_options(reading=True) as connection:
        known = known_keys(connection)
        _refuse_others(known, held)
        if not known and not _opens_names(connection, Sealer(keys)):
            raise other_keys("the names in the database were encrypted with other keys")
    newest = {
        purpose: max((n for p, n in known if p is purpose), default=-1) for purpose in Purpose
    }
    # An older one that is not known any more was dropped on another machine.
    new = {each: value for each, value in held.items() if each[1] > newest[each[0]]}
    if not new:
        return
    rows = [{"name": _name(*each), "value": value} for each, value in new.items()]
    try:
        with engine.begin() as connection:
            connection.execute(insert(Stamp), rows)
    except IntegrityError:
        # Another machine began at the same moment: with these keys, or with others.
        with engine.connect().execution_options(reading=True) as connection:
            _refuse_others(known_keys(connection), held)


def _refuse_others(known: Fingerprints, held: Fingerprints) -> None:
    for _, problem in key_problems(known, held):
        raise other_keys(problem)


def other_keys(problem: str) -> WebappError:
    """Return the error for keys that are not the database's."""
    return WebappError(
        f"the keys do not belong to the database: {problem}",
        where="the keys file (`secret_key`, or what `secret_key_file` names)",
        expected="the keys under which people came: under others their links open nothing, and"
        " they could take part twice",
        remedy=REMEDY,
    )


def _opens_names(connection: Connection, sealer: Sealer) -> bool:
    """Return whether the keys open a name of a database that has no fingerprints yet."""
    stored = type_coerce(Identity.sealed, String), type_coerce(Identity.hash, String)
    found = connection.execute(
        select(*stored).where(Identity.forgotten.is_(False)).order_by(Identity.id.desc()).limit(1)
    ).first()
    if found is None:
        return True
    sealed, digest = found
    try:
        name = sealer.open(sealed)
    except WebappError:
        return False
    # Digests of a lost key are made anew, from the names.
    lost = int(digest.partition(".")[0]) not in sealer.digest_ids
    return lost or digest in sealer.digests(name)


def forget_key(connection: Connection, id_: int) -> None:
    """Forget a key that was dropped."""
    names = [_name(purpose, id_) for purpose in Purpose]
    connection.execute(delete(Stamp).where(Stamp.name.in_(names)))


def replace_keys(engine: Engine, keys: Keys) -> None:
    """Take these keys for the database's in place of those that it knows.

    Raises:
        WebappError: They do not open the names in it.
    """
    rows = [{"name": _name(*each), "value": value} for each, value in fingerprints(keys).items()]
    with engine.begin() as connection:
        if not _opens_names(connection, Sealer(keys)):
            raise other_keys("the names in the database were encrypted with other keys")
        connection.execute(delete(Stamp).where(Stamp.name.startswith(f"{_STAMP} ")))
        connection.execute(insert(Stamp), rows)


def knows_people(engine: Engine) -> bool:
    """Return whether somebody came to a database of whatever schema, or keys were used with it."""
    with engine.connect().execution_options(reading=True) as connection:
        tables = inspect(connection)
        if tables.has_table(Stamp.__tablename__) and known_keys(connection):
            return True
        if not tables.has_table(Participant.__tablename__):
            return False
        return connection.scalar(select(Participant.id).limit(1)) is not None


def _name(purpose: Purpose, id_: int) -> str:
    return f"{_STAMP} {purpose} {id_}"
