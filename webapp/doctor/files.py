"""Checks of this machine: the key, the files, the disk, the log."""

import re
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from experiment.errors import why_unread
from experiment.machine import files_to_spare, most_open_files
from webapp.core.instance import UNREADABLE, key_file
from webapp.doctor.findings import Finding, Installation, Level
from webapp.recruiters.registry import recruiter_classes
from webapp.server.open_files import FILES_BESIDES

# What chance gives a key of 64 hexadecimal digits nearly always, and a word typed by hand never.
_LEAST_LENGTH, _LEAST_CHARACTERS = 64, 12
_LEAST_ROOM_BYTES, _GOOD_ROOM_BYTES = 64 * 2**20, 2**30
# Each process makes some files at its start, and a backup a few more.
LEAST_NAMES, _GOOD_NAMES = 100, 1000
_NAMES_SHOWN = 5
_LAST_OF_LOG_BYTES = 8 * 2**20
_TOKEN = r"/p/[A-Za-z0-9_-]{8,}[.][A-Za-z0-9_.-]{8,}"
_ADDRESS = r"(?<![\d.])(?!127\.|0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}(?![\d.])"


def _private() -> re.Pattern[bytes]:
    """Return what a log must not hold: tokens, ids of people, their addresses."""
    ids = "|".join(sorted({id_ for each in recruiter_classes() for id_ in each.link_ids}))
    return re.compile(rf"{_TOKEN}|(?:{ids})=(?!\.\.\.)\w|{_ADDRESS}".encode())


def key(at: Installation) -> Iterator[Finding]:
    """Look at the key that signs links: who can read it, and whether it can be guessed."""
    path = key_file(at.folder, at.settings.secret_key_file)
    try:
        mode, text = path.stat().st_mode, path.read_text(encoding="utf-8").strip()
    except PermissionError as error:
        yield Finding(
            "key", Level.FAULT, f"{path} cannot be read ({why_unread(error)})", UNREADABLE
        )
        return
    except (OSError, UnicodeDecodeError) as error:
        made = "" if at.settings.secret_key_file else "The first start of a new database creates it"
        level = Level.WARNING if made else Level.FAULT
        yield Finding(
            "key",
            level,
            f"{path} cannot be read ({why_unread(error)})",
            made or "Put the file there",
        )
        return
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        say = f"users other than its owner may read or change {path} ({stat.S_IMODE(mode):o})"
        yield Finding("key", Level.FAULT, say, f"chmod 600 {path}")
    secrets = [line.split()[-1] for line in text.splitlines() if line.strip()] or [""]
    if any(len(s) < _LEAST_LENGTH or len(set(s)) < _LEAST_CHARACTERS for s in secrets):
        remedy = "Between two studies, replace the key by 64 random characters: docs/serving.md"
        yield Finding(
            "key",
            Level.WARNING,
            "the key may be guessable: it is short, or repeats few characters",
            remedy,
        )
    if not mode & (stat.S_IRWXG | stat.S_IRWXO):
        yield Finding("key", Level.GOOD, "only its owner may read it")


def files(at: Installation) -> Iterator[Finding]:
    """Look at who may read and change the instance folder, its files, and an SQLite file."""
    if wide := sorted(path for path in (at.folder, *at.folder.rglob("*")) if _is_wide(path)):
        names = ", ".join(str(path.relative_to(at.folder)) for path in wide[:_NAMES_SHOWN])
        many = f" and {len(wide) - _NAMES_SHOWN} more" if len(wide) > _NAMES_SHOWN else ""
        say = f"users other than their owner may use {names}{many} in {at.folder}"
        yield Finding("files", Level.WARNING, say, f"chmod -R go-rwx {at.folder}")
    data = at.engine.url.database if at.engine and at.engine.dialect.name == "sqlite" else None
    elsewhere = data is not None and not Path(data).is_relative_to(at.folder)
    if data and elsewhere and _is_wide(Path(data)):
        wide.append(Path(data))
        say = f"users other than its owner may use {data}"
        yield Finding("files", Level.WARNING, say, f"chmod go-rwx {data}*")
    if not wide:
        yield Finding("files", Level.GOOD, "only their owner may use the instance folder's files")


def _is_wide(path: Path) -> bool:
    """Return whether others than its owner may read, change or enter something; no for a link."""
    try:
        mode = path.lstat().st_mode
    except OSError:  # a file that a server at work just took away
        return False
    return not stat.S_ISLNK(mode) and bool(mode & (stat.S_IRWXG | stat.S_IRWXO))


def disk(at: Installation) -> Iterator[Finding]:
    """Look at whether files can be made, and at the room left where the data are written."""
    room, spare = shutil.disk_usage(at.folder).free, files_to_spare(at.folder)
    say = f"{room / 2**20:,.0f} MiB are free at {at.folder}"
    remedy = "Free some space, or move the instance folder"
    # Names run out while there is room for bytes, and then nothing tells why.
    if spare is not None and spare < _GOOD_NAMES:
        say = f"only {spare} more files can be created at {at.folder} (df -i)"
        level = Level.FAULT if spare < LEAST_NAMES else Level.WARNING
        remedy = "Delete small files of other programs on this disk, or move the instance folder"
        yield Finding("disk", level, say, remedy)
    elif room < _LEAST_ROOM_BYTES:
        yield Finding("disk", Level.FAULT, say, remedy)
    elif room < _GOOD_ROOM_BYTES:
        yield Finding("disk", Level.WARNING, say, remedy)
    else:
        yield Finding("disk", Level.GOOD, say)


def open_files(at: Installation) -> Iterator[Finding]:
    """Look at whether a process may open as many files as it has connections.

    The server raises its own limit as far as the system lets it, so that is what counts.
    """
    _, hard = most_open_files()
    needed = at.settings.connections + FILES_BESIDES
    many = "any number of" if hard is None else str(hard)
    say = f"a process may open {many} files; {needed} are enough"
    if hard is not None and hard < needed:
        remedy = (
            f"LimitNOFILE={needed} in the systemd unit, ulimit -Hn {needed}, or fewer connections"
        )
        yield Finding("open_files", Level.WARNING, say, remedy)
    else:
        yield Finding("open_files", Level.GOOD, say)


def log(at: Installation) -> Iterator[Finding]:
    """Search the end of the log for tokens, platforms' names of people and addresses."""
    path = at.folder / "server.log"
    if not path.exists():
        yield Finding(
            "log",
            Level.GOOD,
            "there is no server.log here; the log of a systemd service is in the journal",
        )
        return
    found = sum(1 for _ in _private().finditer(_end_of(path)))
    if found:
        say = (
            f"{found} places in {path} look like a token, a participant's platform id or an "
            "IP address"
        )
        remedy = "Look at them. If they are, delete the file and report which program wrote them"
        yield Finding("log", Level.FAULT, say, remedy)
    else:
        yield Finding("log", Level.GOOD, f"{path} holds nothing that identifies people")


def _end_of(path: Path) -> bytes:
    with path.open("rb") as opened:
        opened.seek(max(0, path.stat().st_size - _LAST_OF_LOG_BYTES))
        return opened.read()
