"""The consent texts that participants agreed to, stored verbatim, each once per run.

A run's study is frozen, but the sentences about stored data come from the program, and a later
version or translation may word them differently. Participants who agree after such a change have
another version of the text.
"""

import hashlib
from datetime import datetime
from functools import cache

from sqlalchemy import Dialect, Integer, String, bindparam, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from webapp.database.models import ConsentText, Participant, Run
from webapp.database.prepared import Prepared

# More new texts than this are never stored at the same moment.
_MOST_TRIES = 10


def text_hash(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, as ``sha256sum`` prints it for the text's file."""
    return hashlib.sha256(text.encode()).hexdigest()


def store_agreed_text(session: Session, run: Run, text: str, now: datetime) -> ConsentText:
    """Return the stored consent text of a run; store it now if it is new."""
    sha256 = text_hash(text)
    same_text = select(ConsentText).where(
        ConsentText.run_id == run.id, ConsentText.sha256 == sha256
    )
    newest = select(func.max(ConsentText.version)).where(ConsentText.run_id == run.id)
    for _ in range(_MOST_TRIES):
        if (stored_text := session.scalar(same_text)) is not None:
            return stored_text
        version = (session.scalar(newest) or 0) + 1
        new = ConsentText(
            run_id=run.id, version=version, sha256=sha256, text=text, first_agreed_at=now
        )
        try:
            with session.begin_nested():
                session.add(new)
        except IntegrityError:
            continue  # another request stored a text first, perhaps the same one
        return new
    raise RuntimeError("a consent text could not be stored")


def store_agreed_text_id(session: Session, run: Run, text: str, now: datetime) -> int:
    """Return the key of the text of ``store_agreed_text``, without reading the text again."""
    connection, sha256 = session.connection(), text_hash(text)
    stored_rows = _prepare_text_lookup(connection.dialect).fetch(
        connection, run=run.id, sha256=sha256
    )
    return int(stored_rows[0][0]) if stored_rows else store_agreed_text(session, run, text, now).id


@cache
def _prepare_text_lookup(dialect: Dialect) -> Prepared:
    """Return the prepared statement that looks up a text, one per database dialect."""
    same_text_query = (
        ConsentText.run_id == bindparam("run", type_=Integer),
        ConsentText.sha256 == bindparam("sha256", type_=String),
    )
    return Prepared(select(ConsentText.id).where(*same_text_query), dialect)


def consent_texts(session: Session, run: Run) -> list[tuple[ConsentText, int]]:
    """Return a run's consent texts with their numbers of participants who agreed, by version."""
    query = (
        select(ConsentText, func.count(Participant.id))
        .outerjoin(Participant, Participant.consent_text_id == ConsentText.id)
        .where(ConsentText.run_id == run.id)
        .group_by(ConsentText.id)
        .order_by(ConsentText.version)
    )
    return [(text, number) for text, number in session.execute(query)]
