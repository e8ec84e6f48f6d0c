"""Read session files from the stores of a study without a server, in any store's format."""

import io
import json
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from webapp.errors import RunError

_LARGEST_BYTES = 512 * 1024 * 1024
_ARCHIVE_SUFFIXES = (".zip", ".jrzip")
_TEXT_SUFFIXES = (".json", ".jsonl", ".txt", ".csv")
_TEXT_FIELDS = ("folder", "session", "kind", "at", "body", "check")


@dataclass(frozen=True, slots=True)
class Entry:
    """One action of a participant, as their browser recorded it.

    Attributes:
        folder: The version of the page's folder.
        session: The name of the session.
        n: The entry's number within the session.
        kind: The kind of action.
        at: The time, by the browser's clock.
        body: The remaining data.
        check: The checksum that the browser wrote.
        sound: Whether the entry matches its checksum.
    """

    folder: str
    session: str
    n: int
    kind: str
    at: datetime
    body: dict[str, Any]
    check: str
    sound: bool


@dataclass
class SessionFiles:
    """The contents of the files.

    Attributes:
        sessions: The entries of each session in order, by folder and session.
        files: How many files were read.
        unreadable: Files without any entry, with the reason.
        repeated: The number of entries that are copies of others.
        changed: The number of entries per session that do not match their checksum and are left
            out.
        strange: The number of parts that are not entries, by file.
    """

    sessions: dict[tuple[str, str], list[Entry]] = field(default_factory=dict)
    files: int = 0
    unreadable: dict[str, str] = field(default_factory=dict)
    repeated: int = 0
    changed: Counter[str] = field(default_factory=Counter)
    strange: Counter[str] = field(default_factory=Counter)


def read_session_files(paths: Iterable[Path]) -> SessionFiles:
    """Return the contents of session files; of a folder, all files below it are read.

    Raises:
        RunError: A path does not exist, or none of the files is a session file.
    """
    gathered = SessionFiles()
    entries_by_session: dict[tuple[str, str], dict[tuple[int, str], Entry]] = defaultdict(dict)
    for name, content in _read_files(paths):
        gathered.files += 1
        try:
            parts = list(_parse_values(content))
        except (ValueError, RecursionError) as error:
            gathered.unreadable[name] = str(error)
            continue
        has_entries = False
        for part in parts:
            entry = _parse_entry(part)
            if entry is None:
                gathered.strange[name] += 1
                continue
            has_entries = True
            key = (entry.n, entry.check)
            of_session = entries_by_session[entry.folder, entry.session]
            gathered.repeated += key in of_session
            if entry.sound:
                of_session.setdefault(key, entry)
            else:
                gathered.changed[entry.session] += 1
        if not has_entries:
            gathered.strange.pop(name, None)
            gathered.unreadable[name] = "it holds nothing that a page of Parallax wrote"
    for session, entries_of in entries_by_session.items():
        gathered.sessions[session] = sorted(entries_of.values(), key=lambda each: (each.n, each.at))
    if not any(gathered.sessions.values()) and not gathered.changed:
        raise RunError(
            "none of the files holds a session",
            where=", ".join(map(str, paths)),
            expected="what a page written by parallax study static sent to its store",
        )
    return gathered


def compute_checksum(text: str) -> str:
    """Return the checksum that the page writes for an entry: 64-bit FNV-1a of its UTF-8 text."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def _read_files(paths: Iterable[Path]) -> Iterator[tuple[str, bytes]]:
    for path in paths:
        if not path.exists():
            raise RunError("there is no such file or folder", where=str(path))
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if not file.is_file() or file.name.startswith("."):
                continue
            if file.suffix.lower() in _ARCHIVE_SUFFIXES:
                yield from _read_archive(file)
            elif file.suffix.lower() in _TEXT_SUFFIXES:
                yield str(file), file.read_bytes()


def _read_archive(file: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the data files of an archive, such as JATOS's results."""
    try:
        with zipfile.ZipFile(io.BytesIO(file.read_bytes())) as archive:
            if sum(member.file_size for member in archive.infolist()) > _LARGEST_BYTES:
                raise RunError(
                    "the archive is too large", where=str(file), expected="at most 512 MB"
                )
            for name in sorted(archive.namelist()):
                # metadata.json is JATOS's description of the results, not a result.
                if name.endswith(_TEXT_SUFFIXES) and not name.endswith("metadata.json"):
                    yield f"{file}: {name}", archive.read(name)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise RunError(f"the archive cannot be read: {error}", where=str(file)) from error


def _parse_values(content: bytes) -> Iterator[Any]:
    """Yield the values in a file: the items of one list, or consecutive JSON texts."""
    text = content.decode("utf-8-sig").strip()
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError) as error:
            raise ValueError(f"it is not JSON, or is cut short ({error})") from error
        yield from value if isinstance(value, list) else [value]
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1


def _parse_entry(part: object) -> Entry | None:
    if isinstance(part, str):
        # A staged trial is a JSON text inside a string.
        try:
            part = json.loads(part)
        except (ValueError, RecursionError):
            return None
    if not isinstance(part, dict) or part.get("parallax") != 1:
        return None
    n, texts = part.get("n"), [part.get(name) for name in _TEXT_FIELDS]
    if not isinstance(n, int) or not all(isinstance(text, str) for text in texts):
        return None
    folder, session, kind, at, body, check = map(str, texts)
    try:
        sound = compute_checksum("\n".join((folder, session, str(n), kind, at, body))) == check
        # The time must also be convertible to UTC.
        time, data = datetime.fromisoformat(at), json.loads(body)
        time.astimezone(UTC)
    except (ValueError, OverflowError, RecursionError):
        return None
    if time.tzinfo is None or not isinstance(data, dict):
        return None
    return Entry(folder, session, n, kind, time, data, check, sound)
