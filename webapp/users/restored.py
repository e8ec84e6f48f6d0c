"""What a restored database opens that was closed since its backup."""

from datetime import datetime

from sqlalchemy import Engine, delete, inspect, update

from webapp.database.models import ApiToken, Invitation, PasswordLink, SignIn


def close_doors(engine: Engine, now: datetime) -> None:
    """End every session, link for a new password, programs' token and invitation.

    The backup has some that had been ended since, and nothing tells which.

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
        if ApiToken.__tablename__ in there:
            valid = update(ApiToken).where(ApiToken.revoked_at.is_(None))
            connection.execute(valid.values(revoked_at=now))
        if Invitation.__tablename__ in there:
            unused = update(Invitation).where(Invitation.used_at.is_(None))
            connection.execute(unused.values(used_at=now))
