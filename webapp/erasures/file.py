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


class Deed(StrEnum):
    """The kind of a wish."""

    WITHDRAWN = "withdrawn"
    ERASED = "erased"
    FORGOTTEN = "forgotten"
    CORRECTED = "corrected"
    RESTRICTED = "restricted"
    RELEASED = "released"  # the restricted data may be used again


# Final wishes, in ascending order; each includes those before it. The other kinds may be repeated,
# and the newest entry counts.
FINAL = (Deed.WITHDRAWN, Deed.ERASED, Deed.FORGOTTEN)
ERASING = (Deed.ERASED, Deed.FORGOTTEN)


@dataclass(frozen=True, slots=True)
class Entry:
    """One wish.

    Attributes:
        deed: The kind of the wish.
        digest: A keyed digest of the person's mark, after the key's id.
        at: The time; None if an earlier version did not store it.
        mark: Distinguishes repeated wishes of one kind; empty for a final wish.
        content: The text of a correction, sealed; empty for other wishes, and for corrections by a
            person whose data have been erased since.
    """

    deed: Deed
    digest: str
    at: datetime | None
    mark: str = ""
    content: str = ""

    def __str__(self) -> str:
        """Return the entry as a line of the record."""
        finely = "seconds" if self.deed in FINAL else "microseconds"
        at = "-" if self.at is None else self.at.isoformat(timespec=finely)
        words = [self.deed, self.digest, at]
        return " ".join(words if self.deed in FINAL else [*words, self.mark, self.content or "-"])

    @property
    def key(self) -> tuple[str, str, str]:
        """The fields that identify equal wishes."""
        return self.deed, self.digest, self.mark

    @property
    def key_ids(self) -> frozenset[int]:
        """The ids of the keys that made the digest and sealed the content."""
        return frozenset(map(key_id_of, filter(None, (self.digest, self.content))))


def read_entry(line: str, where: str) -> Entry:
    """Return the entry in a line.

    Raises:
        WebappError: The line is not an entry of a record.
    """
    try:
        deed, digest, at, *more = line.split(" ")
        mark, content = more if Deed(deed) not in FINAL else (*more, "", "")
        if content.strip(_ERASED_SIGN + "-") == "":
            content = ""
        time = None if at == "-" else datetime.fromisoformat(at)
        if time is not None and time.tzinfo is None:
            raise ValueError  # a time without a zone cannot be compared with the others
        entry = Entry(Deed(deed), digest, time, mark, content)
        entry.key_ids  # noqa: B018 - it raises an error where there is none
    except ValueError as error:
        raise WebappError(
            f'a line is no entry of a record of erasures: "{line[:60]}"',
            where=where,
            expected="lines such as: erased 2.9f86d081 2026-11-23T09:00:00+00:00",
            remedy="Take the newest sound copy of the file",
        ) from error
    return entry


def line_without_content(line: str) -> str:
    """Return a line of the same length with its content overwritten."""
    before, _, content = line.rpartition(" ")
    return f"{before} {_ERASED_SIGN * len(content)}"


def key_id_of(text: str) -> int:
    """Return the id of the key with which a digest or a sealed text was made."""
    return int(text.partition(".")[0])


def erased_digests(entries: Iterable[Entry]) -> frozenset[str]:
    """Return the digests of the people whose data the entries erase."""
    return frozenset(entry.digest for entry in entries if entry.deed in ERASING)


def mark_of(ref: str) -> str:
    """Return the mark of the participant with this reference; only a digest of it is stored."""
    return hashlib.sha256(f"participant\x1f{ref}".encode()).hexdigest()


RECORD_FILE = "erasures"
# The prefix of a line that names the record's owner (``webapp.erasures.record``).
OWNER = "installation "
# The file of earlier versions: one digest per line, of forgotten people.
_OLDER_FILE = "forgotten"


def record_file(instance: Path) -> Path:
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
            remedy="Give it back to that account, or take the newest sound copy of the file",
        ) from error
    complete, _, _ = text.rpartition("\n")  # a crash may have truncated the last line
    lines = complete.splitlines()
    return [read_entry(line, str(path)) for line in lines if not line.startswith(OWNER)]


def append(instance: Path, entries: Iterable[Entry]) -> None:
    """Append entries to the record, and flush them to disk.

    Raises:
        WebappError: The file cannot be written.
    """
    add_lines(instance, map(str, entries))


def cannot_write(path: Path, error: OSError) -> WebappError:
    """Return the error for a record that cannot be written."""
    return WebappError(
        f"the record of erasures cannot be written ({why_unread(error)})",
        where=str(path),
        expected="a file of the server's account on a disk with space: nothing is erased or"
        " changed before it is written down",
        remedy="Free some space, or give the file back to that account, and ask again",
    )


def add_lines(instance: Path, lines: Iterable[str]) -> None:
    """Append lines to the record, and flush them to disk.

    Raises:
        WebappError: The file cannot be written.
    """
    path = record_file(instance)
    lock = FileLock(path)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            lock.acquire(None)
            # A crash or a full disk may have truncated the last line.
            whole = len(path.read_bytes().rpartition(b"\n")[0])
            os.ftruncate(descriptor, whole + 1 if whole else 0)
            text = "".join(f"{line}\n" for line in lines).encode("ascii")
            if os.write(descriptor, text) != len(text):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
            lock.release()
    except OSError as error:
        raise cannot_write(path, error) from error


def blank(instance: Path, digests: Collection[str] = ()) -> None:
    """Overwrite the corrections of people whose data were erased; the lines keep their length.

    Args:
        instance: The instance folder.
        digests: The digests of the people; those whom the record itself erases are added.

    Raises:
        WebappError: The file cannot be read or written.
    """
    path = record_file(instance)
    if not _to_be_blanked(read_record(path), digests):
        return
    lock = FileLock(path)
    try:
        lock.acquire(None)
        try:
            gone = _to_be_blanked(read_record(path), digests)
            complete, end, _ = path.read_text(encoding="ascii").rpartition("\n")
            lines = (
                line_without_content(line)
                if not line.startswith(OWNER) and read_entry(line, str(path)) in gone
                else line
                for line in complete.splitlines()
            )
            with path.open("r+", encoding="ascii") as file:
                file.write("\n".join(lines) + end)
                file.flush()
                os.fsync(file.fileno())
        finally:
            lock.release()
    except OSError as error:
        raise cannot_write(path, error) from error


def _to_be_blanked(entries: list[Entry], digests: Collection[str]) -> list[Entry]:
    gone = erased_digests(entries).union(digests)
    return [entry for entry in entries if entry.content and entry.digest in gone]


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
    digests = [line if "." in line else sealer.digest(content(line)) for line in lines]
    append(instance, (Entry(Deed.FORGOTTEN, digest, None) for digest in digests))
    older.unlink()


def write_record(path: Path, entries: Iterable[Entry], owner: Iterable[str] = ()) -> None:
    """Write a copy of a record that only its owner can read, replacing an older copy.

    Args:
        path: The file to write.
        entries: The entries of the record.
        owner: The lines that name the record's owner.

    Raises:
        OSError: The file cannot be written.
    """
    path.touch(mode=0o600)
    replace_text(path, "".join(f"{line}\n" for line in (*owner, *entries)))


def content(mark: str) -> str:
    """Return the text whose digest represents a mark; it never equals a name in the database."""
    return f"tombstone\x1f{mark}"
