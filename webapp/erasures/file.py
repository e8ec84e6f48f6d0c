"""The file of the record of erasures, in the instance folder, and its entries."""

import errno
import hashlib
import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from experiment.errors import why_unread
from webapp.core.instance import replace_text
from webapp.core.sealing import Sealer
from webapp.database.locks import FileLock
from webapp.errors import WebappError

_ERASED_SIGN = "x"


class WishKind(StrEnum):
    """The kind of a wish."""

    WITHDRAWN = "withdrawn"
    ERASED = "erased"
    FORGOTTEN = "forgotten"
    CORRECTED = "corrected"
    RESTRICTED = "restricted"
    RELEASED = "released"  # the restricted data may be used again


# Final wishes, in ascending order; each includes those before it. The other kinds may be repeated,
# and the newest entry counts.
FINAL_WISHES = (WishKind.WITHDRAWN, WishKind.ERASED, WishKind.FORGOTTEN)
ERASING_WISHES = (WishKind.ERASED, WishKind.FORGOTTEN)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: a participant's wish.

    Attributes:
        deed: The kind of the wish.
        digest: A keyed digest of the person's mark, after the key's id.
        at: The time; None if an earlier version did not store it.
        mark: Distinguishes repeated wishes of one kind; empty for a final wish.
        content: The text of a correction, sealed; empty for other wishes, and for corrections by a
            person whose data have been erased since.
    """

    deed: WishKind
    digest: str
    at: datetime | None
    mark: str = ""
    content: str = ""

    def __str__(self) -> str:
        """Return the entry as a line of the record."""
        timespec = "seconds" if self.deed in FINAL_WISHES else "microseconds"
        time = "-" if self.at is None else self.at.isoformat(timespec=timespec)
        fields = [self.deed, self.digest, time]
        return " ".join(
            fields if self.deed in FINAL_WISHES else [*fields, self.mark, self.content or "-"]
        )

    @property
    def key(self) -> tuple[str, str, str]:
        """The fields that identify equal wishes."""
        return self.deed, self.digest, self.mark

    @property
    def key_ids(self) -> frozenset[int]:
        """The ids of the keys that made the digest and sealed the content."""
        return frozenset(map(parse_key_id, filter(None, (self.digest, self.content))))


def read_entry(line: str, source: str) -> Entry:
    """Return the entry in a line.

    Raises:
        WebappError: The line is not an entry of a record.
    """
    try:
        deed, digest, at, *amendment = line.split(" ")
        mark, content = amendment if WishKind(deed) not in FINAL_WISHES else (*amendment, "", "")
        if content.strip(_ERASED_SIGN + "-") == "":
            content = ""
        time = None if at == "-" else datetime.fromisoformat(at)
        if time is not None and time.tzinfo is None:
            raise ValueError  # a time without a zone cannot be compared with the others
        entry = Entry(WishKind(deed), digest, time, mark, content)
        entry.key_ids  # noqa: B018 - it raises an error where there is none
    except ValueError as error:
        raise WebappError(
            f'a line is not an entry of a record of erasures: "{line[:60]}"',
            where=source,
            expected="lines such as: erased 2.9f86d081 2026-11-23T09:00:00+00:00",
            remedy="Restore the newest intact copy of the file",
        ) from error
    return entry


def overwrite_content(line: str) -> str:
    """Return a line of the same length with its content overwritten."""
    start, _, content = line.rpartition(" ")
    return f"{start} {_ERASED_SIGN * len(content)}"


def parse_key_id(text: str) -> int:
    """Return the id of the key with which a digest or a sealed text was made."""
    return int(text.partition(".")[0])


def list_erased_digests(entries: Iterable[Entry]) -> frozenset[str]:
    """Return the digests of the people whose data the entries erase."""
    return frozenset(entry.digest for entry in entries if entry.deed in ERASING_WISHES)


def compute_mark(ref: str) -> str:
    """Return the mark of the participant with this reference; only a digest of it is stored."""
    return hashlib.sha256(f"participant\x1f{ref}".encode()).hexdigest()


RECORD_FILE = "erasures"
# The prefix of a line that names the record's owner (``webapp.erasures.record``).
OWNER_MARK = "installation "
# The file of earlier versions: one digest per line, of forgotten people.
_OLDER_FILE = "forgotten"


def get_record_path(instance: Path) -> Path:
    """Return the path of an installation's record."""
    return instance / RECORD_FILE


def read_record(path: Path) -> list[Entry]:
    """Return the entries of a record, oldest first; none if the file does not exist.

    Raises:
        WebappError: The file cannot be read, or is not a record.
    """
    try:
        text = path.read_text(encoding="ascii")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise WebappError(
            f"the record of erasures cannot be read ({why_unread(error)})",
            where=str(path),
            expected="a text file that the server's account may read",
            remedy="Make that account the file's owner, or restore the newest intact copy of the "
            "file",
        ) from error
    complete, _, _ = text.rpartition("\n")  # a crash may have truncated the last line
    lines = complete.splitlines()
    return [read_entry(line, str(path)) for line in lines if not line.startswith(OWNER_MARK)]


def append_entries(instance: Path, entries: Iterable[Entry]) -> None:
    """Append entries to the record, and flush them to disk.

    Raises:
        WebappError: The file cannot be written.
    """
    append_lines(instance, map(str, entries))


def record_write_error(path: Path, error: OSError) -> WebappError:
    """Return the error for a record that cannot be written."""
    return WebappError(
        f"the record of erasures cannot be written ({why_unread(error)})",
        where=str(path),
        expected="a file that the server's account can write, on a disk with free space; nothing "
        "is erased or changed before it is recorded",
        remedy="Free disk space or make that account the file's owner, then try again",
    )


def append_lines(instance: Path, lines: Iterable[str]) -> None:
    """Append lines to the record, and flush them to disk.

    Raises:
        WebappError: The file cannot be written.
    """
    path = get_record_path(instance)
    lock = FileLock(path)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            lock.acquire(None)
            # A crash or a full disk may have truncated the last line.
            complete_length = len(path.read_bytes().rpartition(b"\n")[0])
            os.ftruncate(descriptor, complete_length + 1 if complete_length else 0)
            text = "".join(f"{line}\n" for line in lines).encode("ascii")
            if os.write(descriptor, text) != len(text):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
            lock.release()
    except OSError as error:
        raise record_write_error(path, error) from error


def overwrite_erased_corrections(instance: Path, digests: Collection[str] = ()) -> None:
    """Overwrite the corrections of people whose data were erased; the lines keep their length.

    Args:
        instance: The instance folder.
        digests: The digests of the people; those whom the record itself erases are added.

    Raises:
        WebappError: The file cannot be read or written.
    """
    path = get_record_path(instance)
    if not _select_erased_corrections(read_record(path), digests):
        return
    lock = FileLock(path)
    try:
        lock.acquire(None)
        try:
            erased_entries = _select_erased_corrections(read_record(path), digests)
            complete, line_end, _ = path.read_text(encoding="ascii").rpartition("\n")
            lines = (
                overwrite_content(line)
                if not line.startswith(OWNER_MARK) and read_entry(line, str(path)) in erased_entries
                else line
                for line in complete.splitlines()
            )
            with path.open("r+", encoding="ascii") as file:
                file.write("\n".join(lines) + line_end)
                file.flush()
                os.fsync(file.fileno())
        finally:
            lock.release()
    except OSError as error:
        raise record_write_error(path, error) from error


def _select_erased_corrections(entries: list[Entry], digests: Collection[str]) -> list[Entry]:
    erased = list_erased_digests(entries).union(digests)
    return [entry for entry in entries if entry.content and entry.digest in erased]


def take_over_older_file(instance: Path, sealer: Sealer) -> None:
    """Move the entries of an earlier version's file into the record.

    Raises:
        WebappError: A file cannot be read or written.
    """
    older = instance / _OLDER_FILE
    try:
        lines = older.read_text(encoding="ascii").split()
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        raise WebappError(
            f"the list of forgotten participants cannot be read ({why_unread(error)})",
            where=str(older),
        ) from error
    # A line without a key id comes from a still earlier version.
    digests = [line if "." in line else sealer.digest(compute_digest_text(line)) for line in lines]
    append_entries(instance, (Entry(WishKind.FORGOTTEN, digest, None) for digest in digests))
    older.unlink()


def write_record(path: Path, entries: Iterable[Entry], owner: Iterable[str] = ()) -> None:
    """Write a copy of a record, which only the file's owner can read, over any older copy.

    Args:
        path: The file to write.
        entries: The entries of the record.
        owner: The lines that name the record's owner.

    Raises:
        OSError: The file cannot be written.
    """
    path.touch(mode=0o600)
    replace_text(path, "".join(f"{line}\n" for line in (*owner, *entries)))


def compute_digest_text(mark: str) -> str:
    """Return the text whose digest represents a mark; it never equals a name in the database."""
    return f"tombstone\x1f{mark}"
