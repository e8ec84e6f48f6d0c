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
    ERASING_WISHES,
    FINAL_WISHES,
    OWNER_MARK,
    Entry,
    WishKind,
    append_entries,
    append_lines,
    compute_digest_text,
    get_record_path,
    overwrite_erased_corrections,
    parse_key_id,
    read_record,
    record_write_error,
)
from webapp.errors import WebappError

_OWNER_TEXT = "the record of erasures of this installation"


def read_owner_lines(path: Path) -> list[str]:
    """Return the owner lines of a record; none if an earlier version wrote it."""
    try:
        text = path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return []  # reading its entries reports the error
    return [line for line in text.rpartition("\n")[0].splitlines() if line.startswith(OWNER_MARK)]


def refuse_foreign_record(path: Path, sealer: Sealer) -> None:
    """Raise an error if the record names another installation as its owner.

    An owner line made with a dropped key proves nothing: entries that need the key are refused
    elsewhere.

    Raises:
        WebappError: The record belongs to another installation.
    """
    if _is_foreign(read_owner_lines(path), sealer):
        raise WebappError(
            "the record of erasures belongs to another installation, or the keys are not those "
            "with which it was made",
            where=str(path),
            expected="this installation's own record; nobody in another installation's record is "
            "known here",
            remedy="Restore the newest copy of this installation's record. If its keys are lost "
            "for good, its entries are useless: parallax keys adopt --lost",
        )


def has_foreign_owner(path: Path, sealer: Sealer) -> bool:
    """Return whether a record's first line names another installation as its owner.

    Only that line is read, because this runs for every new participant.
    """
    try:
        with path.open("rb") as file:
            first_line = file.readline().decode("ascii").rstrip("\n")
    except (OSError, UnicodeDecodeError):
        return False  # reading its entries reports the error
    return first_line.startswith(OWNER_MARK) and _is_foreign([first_line], sealer)


def _is_foreign(lines: Sequence[str], sealer: Sealer) -> bool:
    own_digests = _compute_own_digests(sealer)
    known_key_ids = {digest.partition(".")[0] for digest in own_digests}
    line_digests = {digest.removeprefix(OWNER_MARK) for digest in lines}
    checkable_digests = {
        digest for digest in line_digests if digest.partition(".")[0] in known_key_ids
    }
    return bool(checkable_digests) and checkable_digests.isdisjoint(own_digests)


# Called for every new participant; keys do not change during a process's lifetime.
@lru_cache(8)
def _compute_own_digests(sealer: Sealer) -> frozenset[str]:
    return frozenset(sealer.digests(_OWNER_TEXT))


def sign_record(instance: Path, sealer: Sealer) -> None:
    """Add the owner line to an installation's record, unless it is there already.

    Raises:
        WebappError: The file cannot be written.
    """
    line = f"{OWNER_MARK}{sealer.digest(_OWNER_TEXT)}"
    if line not in read_owner_lines(get_record_path(instance)):
        append_lines(instance, [line])


def remove_owner(instance: Path) -> None:
    """Remove the owner lines from a record whose keys are lost and are being replaced.

    Raises:
        WebappError: The file cannot be written.
    """
    path = get_record_path(instance)
    if not read_owner_lines(path):
        return
    try:
        lines = path.read_text(encoding="ascii").splitlines(keepends=True)
        replace_text(path, "".join(line for line in lines if not line.startswith(OWNER_MARK)))
    except OSError as error:
        raise record_write_error(path, error) from error


def refuse_unreadable_entries(entries: Collection[Entry], sealer: Sealer, path: Path) -> None:
    """Raise an error if any entry of the record cannot be read.

    Raises:
        WebappError: An entry needs a missing key, or its content is damaged.
    """
    sealing_ids = {key.id for key in sealer.keys.sealing}
    digest_key_ids = {parse_key_id(entry.digest) for entry in entries} - sealer.digest_ids
    content_key_ids = {
        parse_key_id(entry.content) for entry in entries if entry.content
    } - sealing_ids
    if missing_ids := sorted(digest_key_ids | content_key_ids):
        raise WebappError(
            f"the record of erasures needs key {missing_ids[0]}, which is not in the keys",
            where=str(path),
            expected="the keys with which participants' wishes were recorded, to carry them out "
            "again",
            remedy="Restore your copy of the keys file. If the key is lost, delete the lines "
            f"with ` {missing_ids[0]}.`: an older backup then brings those people's data back. If "
            "the record belongs to another installation, replace it with this installation's own "
            "record",
        )
    if damaged_entry := next((entry for entry in entries if not _is_readable(entry, sealer)), None):
        raise WebappError(
            "the record of erasures contains a correction that cannot be read: "
            f'"{damaged_entry!s:.60}"',
            where=str(path),
            expected="lines exactly as Parallax wrote them; they cannot be written by hand",
            remedy="Restore the newest intact copy of the file. If there is none, delete the "
            "line: the answer then keeps its value from before the correction",
        )


def _is_readable(entry: Entry, sealer: Sealer) -> bool:
    if not entry.content:
        return True
    try:
        answers = json.loads(sealer.open(entry.content))
    except (WebappError, ValueError):
        return False
    return isinstance(answers, dict)


_LEAST_STEP = timedelta(microseconds=1)


class ErasureRecord:
    """An installation's record of erasures.

    Args:
        instance: The instance folder.
        sealer: Seals and digests with the installation's keys.
    """

    def __init__(self, instance: Path, sealer: Sealer) -> None:
        self.instance, self._sealer = instance, sealer

    def record_final_wishes(
        self, session: Session, kind: WishKind, marks: Iterable[str], now: datetime
    ) -> None:
        """Write final wishes to the file at once, and to the database in the caller's transaction.

        If the transaction fails, the wish is not lost: it is carried out at the next start. For an
        erasure, the corrections of the person are erased from the record, too.

        Args:
            session: The session whose transaction carries out the wish.
            kind: The kind of the wish.
            marks: The person's marks (``compute_mark``).
            now: The time.

        Raises:
            WebappError: The file cannot be written; then the caller must not change anything.
        """
        marks = list(marks)
        entries = [
            Entry(kind, self._sealer.digest(compute_digest_text(mark)), now) for mark in marks
        ]
        stored = load_entries(session, {entry.digest for entry in entries})
        new_entries = [entry for entry in entries if entry.key not in stored]
        if new_entries:
            append_entries(self.instance, new_entries)
            store_entries(session, new_entries)
        if kind in ERASING_WISHES:
            digests = {digest for mark in marks for digest in self._compute_digests(mark)}
            overwrite_erased_corrections(self.instance, digests)
            their_corrections = Erasure.digest.in_(digests), Erasure.content != ""
            session.execute(update(Erasure).where(*their_corrections).values(content=""))

    def record_repeatable_wish(
        self,
        session: Session,
        kind: WishKind,
        mark: str,
        now: datetime,
        answers: Mapping[str, str] | None = None,
    ) -> None:
        """Write a repeatable wish to the record: a correction, a restriction or its end.

        Args:
            session: The session whose transaction carries out the wish.
            kind: The kind of the wish.
            mark: The person's mark.
            now: The time; a wish is always stored as later than the person's previous one.
            answers: The new answers of a correction by field name; they are stored sealed.

        Raises:
            WebappError: The file cannot be written; then the caller must not change anything.
        """
        earlier_wishes = load_entries(session, self._compute_digests(mark)).values()
        last_time = max((wish.at for wish in earlier_wishes if wish.at is not None), default=now)
        time = max(now, last_time + _LEAST_STEP) if earlier_wishes else now
        sealed = (
            "" if answers is None else self._sealer.seal(json.dumps(dict(answers), sort_keys=True))
        )
        digest = self._sealer.digest(compute_digest_text(mark))
        entry = Entry(kind, digest, time, new_reference(), sealed)
        append_entries(self.instance, [entry])
        store_entries(session, [entry])

    def entries(self) -> list[Entry]:
        """Return every entry of the file.

        Raises:
            WebappError: The file cannot be read, belongs to another installation, or needs a key
                that is missing.
        """
        entries = read_record(path := get_record_path(self.instance))
        refuse_foreign_record(path, self._sealer)
        refuse_unreadable_entries(entries, self._sealer, path)
        return entries

    def find_final_wish(self, mark: str, wishes: Mapping[str, Entry]) -> Entry | None:
        """Return the final wish of the person with this mark; None if there is none.

        Args:
            mark: The person's mark.
            wishes: Entries by digest (``select_final_wishes``).
        """
        entries = [wishes[digest] for digest in self._compute_digests(mark) if digest in wishes]
        return max(entries, key=lambda entry: FINAL_WISHES.index(entry.deed), default=None)

    def collect_amendments(
        self, mark: str, entries: Mapping[str, Sequence[Entry]]
    ) -> tuple[dict[str, str], Entry | None]:
        """Return a person's newest corrections, and the last entry that restricts or releases use.

        Args:
            mark: The person's mark.
            entries: Entries by digest (``group_amendments``).

        Returns:
            The newest text of each corrected field, and the last entry that restricts or releases
            the use of the data; None if there is no such entry.
        """
        amendments = [
            entry for digest in self._compute_digests(mark) for entry in entries.get(digest, ())
        ]
        corrections, last_use_entry = dict[str, str](), None
        for entry in sorted(amendments, key=lambda entry: (entry.at is not None, entry.at)):
            if entry.deed is WishKind.CORRECTED and entry.content:
                corrections |= json.loads(self._sealer.open(entry.content))
            elif entry.deed in (WishKind.RESTRICTED, WishKind.RELEASED):
                last_use_entry = entry
        return corrections, last_use_entry

    def _compute_digests(self, mark: str) -> list[str]:
        return self._sealer.digests(compute_digest_text(mark))


def group_amendments(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """Return the repeatable wishes by their people's digests."""
    entries_of: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.deed not in FINAL_WISHES:
            entries_of.setdefault(entry.digest, []).append(entry)
    return entries_of


def select_final_wishes(entries: Iterable[Entry]) -> dict[str, Entry]:
    """Return the most extensive final wish of each person, by digest."""
    wishes = dict[str, Entry]()
    for entry in entries:
        if entry.deed not in FINAL_WISHES:
            continue
        earlier = wishes.get(entry.digest)
        if earlier is None or FINAL_WISHES.index(earlier.deed) < FINAL_WISHES.index(entry.deed):
            wishes[entry.digest] = entry
    return wishes


def has_stored_entries(connection: Connection) -> bool:
    """Return whether the database contains an entry of the record."""
    return bool(_prepare_any_entry_query(connection.dialect).fetch(connection))


@cache
def _prepare_any_entry_query(dialect: Dialect) -> Prepared:
    """Return the prepared statement for ``has_stored_entries``, one per database dialect."""
    return Prepared(select(Erasure.id).limit(1), dialect)


def load_entries(
    session: Session, digests: Collection[str] | None = None
) -> dict[tuple[str, str, str], Entry]:
    """Return the entries in the database, for some digests or for all."""
    columns = Erasure.deed, Erasure.digest, Erasure.at, Erasure.mark, Erasure.content
    query = select(*columns).order_by(Erasure.id)
    if digests is not None:
        query = query.where(Erasure.digest.in_(digests))
    entries = (
        Entry(WishKind(deed), digest, at, mark, content)
        for deed, digest, at, mark, content in session.execute(query)
    )
    return {entry.key: entry for entry in entries}


def store_entries(session: Session, entries: Iterable[Entry]) -> None:
    """Add entries to the database, in the caller's transaction."""
    rows = [
        {"deed": e.deed.value, "digest": e.digest, "at": e.at, "mark": e.mark, "content": e.content}
        for e in entries
    ]
    if rows:
        session.execute(insert(Erasure), rows)
