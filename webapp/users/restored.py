"""What a restored database opens that was closed since its backup."""

from datetime import datetime

from sqlalchemy import Engine

from webapp.database.engine import make_sessions
from webapp.users.password_links import end_links
from webapp.users.sign_in import sign_everybody_out


def close_doors(engine: Engine, now: datetime) -> None:
    """End every session and every link for a new password: the backup has some that had ended."""
    with make_sessions(engine).begin() as session:
        sign_everybody_out(session, now)
        end_links(session)
