"""Opening an installation's database, with its keys and its gate."""

from pathlib import Path

from sqlalchemy import Engine

from webapp.core.keys import Keys
from webapp.core.settings import Settings
from webapp.database.engine import open_database
from webapp.gate.gate import put_up
from webapp.gate.premises import Premises


def open_installation(instance: Path, settings: Settings, keys: Keys) -> Engine:
    """Return an engine for an installation's database, which has this code's schema.

    Raises:
        DatabaseAwayError: The database does not answer.
        WebappError: It cannot be used.
    """
    engine = open_database(settings.database_url, keys)
    put_up(engine, Premises(instance, settings))
    return engine
