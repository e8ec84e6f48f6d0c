"""What a restored database opens that was closed since its backup."""

from datetime import datetime

from sqlalchemy import Engine, delete, inspect, update

from webapp.database.models import PasswordLink, SignIn


def close_doors(engine: Engine, now: datetime) -> None:
    """End every session and every link for a new password: the backup has some that had ended.

    The database may be of an earlier schema, which is upgraded afterwards.
    """
    with engine.connect().execution_options(reading=True) as connection:
        there = set(inspect(connection).get_table_names())
    with engine.begin() as connection:
        if SignIn.__tablename__ in there:
            open_ones = update(SignIn).where(SignIn.ended_at.is_(None))
            connection.execute(open_ones.values(ended_at=now))
        if PasswordLink.__tablename__ in there:
            connection.execute(delete(PasswordLink))
