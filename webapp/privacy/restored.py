"""A restored database forgets again the people who were forgotten since the backup."""

from datetime import datetime
from pathlib import Path

from sqlalchemy import Engine

from webapp.database.engine import make_sessions
from webapp.database.models.identity import sealer_of
from webapp.database.sealed_names import renew_digests
from webapp.privacy.forget import find_buried, forget
from webapp.privacy.tombstones import key_tombstones, read_tombstones


def forget_again(instance: Path, engine: Engine, now: datetime) -> int:
    """Forget whom a backup brought back, and return how many that were.

    Args:
        instance: The installation's folder, which holds the tombstones.
        engine: Its database, of this code's schema.
        now: The time.

    Raises:
        WebappError: The tombstones cannot be read, or were made with a key that is not there.
    """
    renew_digests(engine)
    sealer = sealer_of(engine.dialect)
    key_tombstones(instance, sealer)
    buried = read_tombstones(instance, sealer)
    if buried.is_empty:
        return 0
    gone = 0
    with make_sessions(engine).begin() as session:
        for person in find_buried(session, buried):
            forget(session, person, now)
            gone += 1
    return gone
