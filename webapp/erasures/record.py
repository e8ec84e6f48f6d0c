"""Write wishes to the record, and find the wishes that a database lacks.

A record belongs to one installation: it has an owner's line that only the installation's key can
produce. Installations number their keys alike, so that another installation's record would look
like this one's. None of its people would be found here, and this installation's erased people would
reappear unnoticed.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache, lru_cache
from pathlib import Path

from sqlalchemy import Connection, Dialect, insert, select, update
from sqlalchemy.orm import Session

from webapp.core.instance import replace_text
from webapp.core.sealing import Sealer
from webapp.core.tokens import new_reference
from webapp.database.models import Erasure
from webapp.database.prepared import Prepared
from webapp.erasures.file import (
    ERASING,
    FINAL,
    OWNER,
    Deed,
    Entry,
    add_lines,
    append,
    blank,
    cannot_write,
    content,
    key_id_of,
    read_record,
    record_file,
)
from webapp.errors import WebappError

_TEXT = "the record of erasures of this installation"


def owner_lines(path: Path) -> list[str]:
    """Return the owner lines of a record; none if an earlier version wrote it."""
    try:
        text = path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return []  # reading its entries reports the error
    return [line for line in text.rpartition("\n")[0].splitlines() if line.startswith(OWNER)]


def refuse_foreign(path: Path, sealer: Sealer) -> None:
    """Raise an error if the record names another installation as its owner.

    An owner line made with a dropped key proves nothing: entries that need the key are refused
    elsewhere.

    Raises:
        WebappError: The record belongs to another installation.
    """
    if _is_foreign(owner_lines(path), sealer):
        raise WebappError(
            "the record of erasures belongs to another installation, or the keys are not those "
            "with which it was made",
            where=str(path),
            expected="this installation's own record: of the people in another one nobody is known",
            remedy="Take the newest copy of this installation's. Where its keys are lost for ever, "
            "its entries say nothing any more: parallax keys adopt --lost",
        )


def begins_foreign(path: Path, sealer: Sealer) -> bool:
    """Return whether a record's first line names another installation as its owner.

    Only that line is read, because this runs for every new participant.
    """
    try:
        with path.open("rb") as file:
            first = file.readline().decode("ascii").rstrip("\n")
    except (OSError, UnicodeDecodeError):
        return False  # reading its entries reports the error
    return first.startswith(OWNER) and _is_foreign([first], sealer)


def _is_foreign(lines: Sequence[str], sealer: Sealer) -> bool:
    own_digests = _own(sealer)
    held = {digest.partition(".")[0] for digest in own_digests}
    made = {digest.removeprefix(OWNER) for digest in lines}
    recognisable = {digest for digest in made if digest.partition(".")[0] in held}
    return bool(recognisable) and recognisable.isdisjoint(own_digests)


# Called for every new participant; keys do not change during a process's lifetime.
@lru_cache(8)
def _own(sealer: Sealer) -> frozenset[str]:
    return frozenset(sealer.digests(_TEXT))


def sign(instance: Path, sealer: Sealer) -> None:
    """Add the owner line to an installation's record, unless it is there already.

    Raises:
        WebappError: The file cannot be written.
    """
    line = f"{OWNER}{sealer.digest(_TEXT)}"
    if line not in owner_lines(record_file(instance)):
        add_lines(instance, [line])


def disown(instance: Path) -> None:
    """Remove the owner lines from a record whose keys are lost and are being replaced.

    Raises:
        WebappError: The file cannot be written.
    """
    path = record_file(instance)
    if not owner_lines(path):
        return
    try:
        lines = path.read_text(encoding="ascii").splitlines(keepends=True)
        replace_text(path, "".join(line for line in lines if not line.startswith(OWNER)))
    except OSError as error:
        raise cannot_write(path, error) from error


def refuse_unreadable(entries: Collection[Entry], sealer: Sealer, where: Path) -> None:
    """Raise an error if any entry of the record cannot be read.

    Raises:
        WebappError: An entry needs a missing key, or its content is damaged.
    """
    sealing = {key.id for key in sealer.keys.sealing}
    made = {key_id_of(entry.digest) for entry in entries} - sealer.digest_ids
    sealed = {key_id_of(entry.content) for entry in entries if entry.content} - sealing
    if lost := sorted(made | sealed):
        raise WebappError(
            f"the record of erasures needs key {lost[0]}, which is not in the keys",
            where=str(where),
            expected="the keys with which people's wishes were recorded, to carry them out again",
            remedy="Take back the copy that you kept of the file of the keys. Where the key is"
            f" lost, delete the lines with ` {lost[0]}.`: a backup from before them then brings"
            " those people back. If the record belongs to another installation, put this"
            " installation's own there",
        )
    if damaged := next((entry for entry in entries if not _is_whole(entry, sealer)), None):
        raise WebappError(
            f'the record of erasures holds a correction that cannot be read: "{damaged!s:.60}"',
            where=str(where),
            expected="lines as they were written: nobody can write one by hand",
            remedy="Take the newest sound copy of the file. If there is none, delete the line: the"
            " answer is then what it was before that correction",
        )


def _is_whole(entry: Entry, sealer: Sealer) -> bool:
    if not entry.content:
        return True
    try:
        answers = json.loads(sealer.open(entry.content))
    except (WebappError, ValueError):
        return False
    return isinstance(answers, dict)


_LEAST_STEP = timedelta(microseconds=1)


class Record:
    """An installation's record of erasures.

    Args:
        instance: The instance folder.
        sealer: Seals and digests with the installation's keys.
    """

    def __init__(self, instance: Path, sealer: Sealer) -> None:
        self.instance, self._sealer = instance, sealer

    def note(self, session: Session, deed: Deed, marks: Iterable[str], now: datetime) -> None:
        """Write final wishes to the file at once, and to the database in the caller's transaction.

        If the transaction fails, the wish is not lost: it is carried out at the next start. For an
        erasure, the corrections of the person are erased from the record, too.

        Args:
            session: The session whose transaction carries out the wish.
            deed: The kind of the wish.
            marks: The person's marks (``mark_of``).
            now: The time.

        Raises:
            WebappError: The file cannot be written; then the caller must not change anything.
        """
        marks = list(marks)
        entries = [Entry(deed, self._sealer.digest(content(each)), now) for each in marks]
        stored = known_entries(session, {each.digest for each in entries})
        new = [each for each in entries if each.key not in stored]
        if new:
            append(self.instance, new)
            store(session, new)
        if deed in ERASING:
            digests = {each for mark in marks for each in self._digests(mark)}
            blank(self.instance, digests)
            of_theirs = Erasure.digest.in_(digests), Erasure.content != ""
            session.execute(update(Erasure).where(*of_theirs).values(content=""))

    def note_again(
        self,
        session: Session,
        deed: Deed,
        mark: str,
        now: datetime,
        said: Mapping[str, str] | None = None,
    ) -> None:
        """Write a repeatable wish to the record: a correction, a restriction or its end.

        Args:
            session: The session whose transaction carries out the wish.
            deed: The kind of the wish.
            mark: The person's mark.
            now: The time; a wish is always stored as later than the person's previous one.
            said: The new answers of a correction by field name; they are stored sealed.

        Raises:
            WebappError: The file cannot be written; then the caller must not change anything.
        """
        before = known_entries(session, self._digests(mark)).values()
        last = max((each.at for each in before if each.at is not None), default=now)
        at = max(now, last + _LEAST_STEP) if before else now
        sealed = "" if said is None else self._sealer.seal(json.dumps(dict(said), sort_keys=True))
        digest = self._sealer.digest(content(mark))
        entry = Entry(deed, digest, at, new_reference(), sealed)
        append(self.instance, [entry])
        store(session, [entry])

    def entries(self) -> list[Entry]:
        """Return every entry of the file.

        Raises:
            WebappError: The file cannot be read, belongs to another installation, or needs a key
                that is missing.
        """
        entries = read_record(path := record_file(self.instance))
        refuse_foreign(path, self._sealer)
        refuse_unreadable(entries, self._sealer, path)
        return entries

    def deed_of(self, mark: str, wishes: Mapping[str, Entry]) -> Entry | None:
        """Return the final wish of the person with this mark; None if there is none.

        Args:
            mark: The person's mark.
            wishes: Entries by digest (``furthest``).
        """
        entries = [wishes[digest] for digest in self._digests(mark) if digest in wishes]
        return max(entries, key=lambda entry: FINAL.index(entry.deed), default=None)

    def amendments_of(
        self, mark: str, entries: Mapping[str, Sequence[Entry]]
    ) -> tuple[dict[str, str], Entry | None]:
        """Return a person's newest corrections, and the entry on the use of their data.

        Args:
            mark: The person's mark.
            entries: Entries by digest (``by_digest``).

        Returns:
            The newest text of each corrected field, and the last entry that restricts or releases
            the use of the data; None if there is no such entry.
        """
        amendments = [each for digest in self._digests(mark) for each in entries.get(digest, ())]
        corrections, use = dict[str, str](), None
        for each in sorted(amendments, key=lambda each: (each.at is not None, each.at)):
            if each.deed is Deed.CORRECTED and each.content:
                corrections |= json.loads(self._sealer.open(each.content))
            elif each.deed in (Deed.RESTRICTED, Deed.RELEASED):
                use = each
        return corrections, use

    def _digests(self, mark: str) -> list[str]:
        return self._sealer.digests(content(mark))


def by_digest(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """Return the repeatable wishes by their people's digests."""
    entries_of: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.deed not in FINAL:
            entries_of.setdefault(entry.digest, []).append(entry)
    return entries_of


def furthest(entries: Iterable[Entry]) -> dict[str, Entry]:
    """Return the most extensive final wish of each person, by digest."""
    wishes = dict[str, Entry]()
    for entry in entries:
        if entry.deed not in FINAL:
            continue
        before = wishes.get(entry.digest)
        if before is None or FINAL.index(before.deed) < FINAL.index(entry.deed):
            wishes[entry.digest] = entry
    return wishes


def knows_erasures(connection: Connection) -> bool:
    """Return whether the database contains an entry of the record."""
    return bool(_any(connection.dialect).find(connection))


@cache
def _any(dialect: Dialect) -> Prepared:
    """Return the prepared statement for ``knows_erasures``, one per database dialect."""
    return Prepared(select(Erasure.id).limit(1), dialect)


def known_entries(
    session: Session, digests: Collection[str] | None = None
) -> dict[tuple[str, str, str], Entry]:
    """Return the entries in the database, for some digests or for all."""
    columns = Erasure.deed, Erasure.digest, Erasure.at, Erasure.mark, Erasure.content
    rows = select(*columns).order_by(Erasure.id)
    if digests is not None:
        rows = rows.where(Erasure.digest.in_(digests))
    entries = (
        Entry(Deed(deed), digest, at, mark, content)
        for deed, digest, at, mark, content in session.execute(rows)
    )
    return {entry.key: entry for entry in entries}


def store(session: Session, entries: Iterable[Entry]) -> None:
    """Add entries to the database, in the caller's transaction."""
    rows = [
        {"deed": e.deed.value, "digest": e.digest, "at": e.at, "mark": e.mark, "content": e.content}
        for e in entries
    ]
    if rows:
        session.execute(insert(Erasure), rows)
