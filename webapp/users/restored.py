"""What a restored database opens that was closed since its backup."""

from datetime import datetime

from sqlalchemy import Engine, delete, update

from webapp.database.models import ApiToken, Invitation, PasswordLink, SignIn


def close_doors(engine: Engine, now: datetime) -> None:
    """End every session, link for a new password, programs' token and invitation.

    The backup has some that had been ended since, and nothing tells which.
    """
    with engine.begin() as connection:
        open_ones = update(SignIn).where(SignIn.ended_at.is_(None))
        connection.execute(open_ones.values(ended_at=now))
        connection.execute(delete(PasswordLink))
        valid = update(ApiToken).where(ApiToken.revoked_at.is_(None))
        connection.execute(valid.values(revoked_at=now))
        unused = update(Invitation).where(Invitation.used_at.is_(None))
        connection.execute(unused.values(used_at=now))
