"""Writing a wish down, and finding those whose wish a database does not know."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from pathlib import Path

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from webapp.core.sealing import Sealer
from webapp.database.models import Erasure
from webapp.erasures.entry import Deed, Entry
from webapp.erasures.file import append, content, read_record, record_file, refuse_lost_keys


class Record:
    """An installation's record of erasures.

    Args:
        instance: Its folder.
        sealer: Its keys.
    """

    def __init__(self, instance: Path, sealer: Sealer) -> None:
        self.instance, self._sealer = instance, sealer

    def note(self, session: Session, deed: Deed, marks: Iterable[str], now: datetime) -> None:
        """Write a wish down: on the disk at once, and in the caller's transaction.

        A wish that was heard is not lost: if the transaction is, the next start carries it out.

        Args:
            session: The session whose transaction does what is wished.
            deed: What is wished.
            marks: What the person is known by (``mark_of``).
            now: The time.

        Raises:
            WebappError: The file cannot be written; then nothing may be done.
        """
        entries = [Entry(deed, self._sealer.digest(content(each)), now) for each in marks]
        known = known_entries(session, {each.digest for each in entries})
        new = [each for each in entries if each.key not in known]
        if new:
            append(self.instance, new)
            store(session, new)

    def entries(self) -> list[Entry]:
        """Return every entry of the file.

        Raises:
            WebappError: It cannot be read, or needs a key that is not there.
        """
        found = read_record(path := record_file(self.instance))
        refuse_lost_keys(found, self._sealer, path)
        return found

    def deed_of(self, mark: str, wishes: Mapping[str, Entry]) -> Entry | None:
        """Return what somebody of this mark asked for; None where they asked for nothing.

        Args:
            mark: What the person is known by.
            wishes: Entries by their digests (``furthest``).
        """
        digests = self._sealer.digests(content(mark))
        found = [wishes[each] for each in digests if each in wishes]
        return max(found, key=lambda each: list(Deed).index(each.deed), default=None)


def furthest(entries: Iterable[Entry]) -> dict[str, Entry]:
    """Return of each person the entry that asks for most, by its digest."""
    wishes = dict[str, Entry]()
    order = list(Deed)
    for each in entries:
        before = wishes.get(each.digest)
        if before is None or order.index(before.deed) < order.index(each.deed):
            wishes[each.digest] = each
    return wishes


def known_entries(
    session: Session, digests: Collection[str] | None = None
) -> dict[tuple[str, str], Entry]:
    """Return the entries that the database holds, of some digests or all."""
    rows = select(Erasure.deed, Erasure.digest, Erasure.at).order_by(Erasure.id)
    if digests is not None:
        rows = rows.where(Erasure.digest.in_(digests))
    found = (Entry(Deed(deed), digest, at) for deed, digest, at in session.execute(rows))
    return {each.key: each for each in found}


def store(session: Session, entries: Iterable[Entry]) -> None:
    """Add entries to the database, in the caller's transaction."""
    rows = [{"deed": e.deed.value, "digest": e.digest, "at": e.at} for e in entries]
    if rows:
        session.execute(insert(Erasure), rows)
