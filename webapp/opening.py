"""Opening an installation's database, with its keys and its gate."""

import logging
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.exc import IntegrityError

from webapp.core.instance import key_file
from webapp.core.keys import Keys, make_keys, read_keys
from webapp.core.settings import Settings
from webapp.database.engine import open_database, usable_database
from webapp.database.key_identity import knows_people
from webapp.database.scrub import scrub
from webapp.erasures.file import get_record_path
from webapp.erasures.record import has_stored_entries
from webapp.gate import paying_copy
from webapp.gate.gate import attach_installation, find_blockers
from webapp.gate.installation import Installation
from webapp.privacy.restored import repeat_wishes

_LOG = logging.getLogger(__name__)


def installation_keys(instance: Path, settings: Settings) -> Keys:
    """Return an installation's keys, made where there are none and its database knows nobody.

    Raises:
        DatabaseAwayError: The database does not answer.
        WebappError: The keys cannot be read or written, or are missing beside people's data.
    """
    if not settings.secret_key_file and not key_file(instance).exists():
        with usable_database(settings.database_url) as engine:
            known = knows_people(engine)
            engine.dispose()
        if not known:
            return make_keys(instance)
    return read_keys(instance, settings.secret_key_file)


def open_installation(instance: Path, settings: Settings, keys: Keys, now: datetime) -> Engine:
    """Return an engine for an installation's database, which has this code's schema.

    What people asked for and the database does not know, because it was restored or copied, is
    carried out first, where the record of it is there; else the gate says that it is missing.

    Raises:
        DatabaseAwayError: The database does not answer.
        WebappError: It cannot be used.
    """
    engine = open_database(settings.database_url, keys)
    attach_installation(engine, installation := Installation(instance, settings))
    _begin_to_pay(engine, installation)
    if get_record_path(instance).exists() or not _knows_erasures(engine):
        gone = repeat_wishes(instance, engine, now)
        if gone:
            _LOG.warning("%d people asked for erasure after this database was backed up", gone)
            scrub(engine)
    return engine


def _begin_to_pay(engine: Engine, installation: Installation) -> None:
    """Make a new database's installation the paying copy, if its ledger is in no doubt."""
    with engine.connect().execution_options(reading=True) as connection:
        if not paying_copy.must_begin(connection, installation.instance):
            return
        if any(name == "ledger" for name, _ in find_blockers(connection)):
            return
    with suppress(IntegrityError), engine.begin() as connection:  # another process was faster
        paying_copy.begin_paying(connection, installation)


def _knows_erasures(engine: Engine) -> bool:
    with engine.connect().execution_options(reading=True) as connection:
        return has_stored_entries(connection)
