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
from webapp.database.key_identity import has_people_or_keys
from webapp.database.scrub import scrub
from webapp.erasures.file import get_record_path
from webapp.erasures.record import has_stored_entries
from webapp.gate import paying_copy
from webapp.gate.gate import attach_installation, find_blockers
from webapp.gate.installation import Installation
from webapp.privacy.restored import repeat_wishes

_LOG = logging.getLogger(__name__)


def installation_keys(instance: Path, settings: Settings) -> Keys:
    """Return an installation's keys; create them if its database has no participants yet.

    Raises:
        DatabaseAwayError: The database is unavailable.
        WebappError: The keys cannot be read or written, or are missing although the database has
            participants.
    """
    if not settings.secret_key_file and not key_file(instance).exists():
        with usable_database(settings.database_url) as engine:
            has_people = has_people_or_keys(engine)
            engine.dispose()
        if not has_people:
            return make_keys(instance)
    return read_keys(instance, settings.secret_key_file)


def open_installation(instance: Path, settings: Settings, keys: Keys, now: datetime) -> Engine:
    """Return an engine for an installation's database, which has this code's schema.

    A database that was restored or copied may lack erasures that participants asked for. They are
    carried out again first; if the record of erasures is missing, the gate reports it.

    Raises:
        DatabaseAwayError: The database is unavailable.
        WebappError: The database cannot be used.
    """
    engine = open_database(settings.database_url, keys)
    attach_installation(engine, installation := Installation(instance, settings))
    _mark_paying_copy(engine, installation)
    if get_record_path(instance).exists() or not _knows_erasures(engine):
        n_erased = repeat_wishes(instance, engine, now)
        if n_erased:
            _LOG.warning("%d people asked for erasure after this database was backed up", n_erased)
            scrub(engine)
    return engine


def _mark_paying_copy(engine: Engine, installation: Installation) -> None:
    """Make the installation of a new database the paying copy, unless the ledger blocks it."""
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
