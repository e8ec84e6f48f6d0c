"""Checks of this machine: its clock, the key, files and their owners, the disk, the log."""

import ctypes
import re
import shutil
import stat
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

from experiment.errors import why_unread
from experiment.machine import files_to_spare, most_open_files, user_name, user_number
from webapp.commands.doctor.findings import Finding, Installation, Level
from webapp.core.instance import READ_REMEDY, key_file
from webapp.database.file_systems import explain_write_failure, list_foreign_files
from webapp.database.remedies import remedy_for
from webapp.database.schema import revisions, stored_revision
from webapp.recruiters.registry import recruiter_classes
from webapp.server.open_files import OTHER_OPEN_FILES

_CHECK_NAME = "network_time"
# The beginning of Linux' struct timex: modes, offset, freq, maxerror, esterror, status.
_TIMEX = struct.Struct("@I4l i")
_TIMEX_BYTES = 256
_UNSYNCHRONISED_FLAG = 0x40
_CALL_FAILED = -1
_LARGE_ERROR_S = 2.0
_MOST_PATHS = 5


def check_network_time(_at: Installation) -> Iterator[Finding]:
    """Check the clock's synchronisation, which chrony, ntpd or timesyncd report to the kernel."""
    if (clock_state := read_kernel_clock()) is None:
        yield Finding(_CHECK_NAME, Level.GOOD, "this system does not say who sets its clock")
        return
    synchronised, most_s = clock_state
    remedy = "Start chrony or systemd-timesyncd; in a container, start it on the host"
    if not synchronised:
        yield Finding(
            _CHECK_NAME, Level.WARNING, "nothing synchronises this machine's clock", remedy
        )
    elif most_s > _LARGE_ERROR_S:
        message = (
            f"the clock may be {most_s:.1f} s off: its time servers have not answered for a "
            "long time"
        )
        yield Finding(_CHECK_NAME, Level.WARNING, message, remedy)
    else:
        yield Finding(
            _CHECK_NAME, Level.GOOD, f"the clock is synchronised, at most {most_s:.2f} s off"
        )


def read_kernel_clock() -> tuple[bool, float] | None:
    """Return whether the clock is synchronised and its largest error in seconds.

    Returns:
        None if the kernel cannot be asked: the system is not Linux, or forbids it.
    """
    if not sys.platform.startswith("linux"):
        return None
    timex = ctypes.create_string_buffer(_TIMEX_BYTES)
    # No mode is set, so nothing is changed: adjtimex(2).
    if ctypes.CDLL(None).adjtimex(timex) == _CALL_FAILED:
        return None
    _, _, _, most_us, _, status = _TIMEX.unpack_from(timex)
    return not status & _UNSYNCHRONISED_FLAG, most_us / 1e6


def check_writes(at: Installation) -> Iterator[Finding]:
    """Check by trial writes that the current user can write to the database and the folder."""
    if at.engine is None or stored_revision(at.engine) != revisions()[-1]:
        yield Finding("writes", Level.GOOD, "not tried: the database cannot be used yet")
    elif problem := explain_write_failure(at.engine, at.folder):
        remedy = (
            "Free some space, or give the files back to the user of the service: "
            f"chown -R {_find_owner(at.folder)}: {at.folder}"
        )
        if "the database" in problem:
            remedy = f"{remedy_for(problem)}. Where the files are another user's: {remedy}"
        yield Finding("writes", Level.FAULT, problem, remedy)
    else:
        yield Finding("writes", Level.GOOD, "a trial row and a trial file could be written")


def check_owners(at: Installation) -> Iterator[Finding]:
    """Find files of other users, which the server cannot write to."""
    foreign_paths = list(list_foreign_files(at.folder, _find_database_file(at)))
    if not foreign_paths:
        yield Finding("owners", Level.GOOD, "every file belongs to the user of the service")
        return
    names = ", ".join(str(path) for path in foreign_paths[:_MOST_PATHS])
    further = (
        f" and {len(foreign_paths) - _MOST_PATHS} more" if len(foreign_paths) > _MOST_PATHS else ""
    )
    owner = _find_owner(foreign_paths[0])
    message = (
        f"{names}{further} belong to another user ({owner}), so the server cannot write to them"
    )
    paths = " ".join(str(path) for path in foreign_paths[:_MOST_PATHS])
    remedy = f"chown {user_name(user_number())}: {paths}"
    yield Finding("owners", Level.FAULT, message, remedy)


def _find_database_file(at: Installation) -> Path | None:
    if at.engine is None or at.engine.dialect.name != "sqlite":
        return None
    return Path(str(at.engine.url.database)).resolve()


def _find_owner(path: Path) -> str:
    return user_name(path.lstat().st_uid)


# Almost every random key of 64 hexadecimal digits passes; no word typed by hand does.
_LEAST_LENGTH, _LEAST_CHARACTERS = 64, 12
_LEAST_ROOM_BYTES, _GOOD_ROOM_BYTES = 64 * 2**20, 2**30
# Each process creates some files at its start, and a backup a few more.
LEAST_NAMES, _GOOD_NAMES = 100, 1000
_MOST_NAMES = 5
_LOG_END_BYTES = 8 * 2**20
_TOKEN_PATTERN = r"/p/[A-Za-z0-9_-]{8,}[.][A-Za-z0-9_.-]{8,}"
_ADDRESS_PATTERN = r"(?<![\d.])(?!127\.|0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}(?![\d.])"


def _make_private_pattern() -> re.Pattern[bytes]:
    """Return a pattern of what a log must not contain: tokens, platform ids, network addresses."""
    ids = "|".join(sorted({id_ for recruiter in recruiter_classes() for id_ in recruiter.link_ids}))
    return re.compile(rf"{_TOKEN_PATTERN}|(?:{ids})=(?!\.\.\.)\w|{_ADDRESS_PATTERN}".encode())


def check_key(at: Installation) -> Iterator[Finding]:
    """Check who can read the key that signs links, and whether it can be guessed."""
    path = key_file(at.folder, at.settings.secret_key_file)
    try:
        mode, text = path.stat().st_mode, path.read_text(encoding="utf-8").strip()
    except PermissionError as error:
        yield Finding(
            "key", Level.FAULT, f"{path} cannot be read ({why_unread(error)})", READ_REMEDY
        )
        return
    except (OSError, UnicodeDecodeError) as error:
        how_keys_are_made = (
            "" if at.settings.secret_key_file else "The first start of a new database creates it"
        )
        level = Level.WARNING if how_keys_are_made else Level.FAULT
        yield Finding(
            "key",
            level,
            f"{path} cannot be read ({why_unread(error)})",
            how_keys_are_made or "Put the file there",
        )
        return
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        message = f"users other than its owner may read or change {path} ({stat.S_IMODE(mode):o})"
        yield Finding("key", Level.FAULT, message, f"chmod 600 {path}")
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


def check_files(at: Installation) -> Iterator[Finding]:
    """Check who may read and change the instance folder, its files, and an SQLite file."""
    if wide := sorted(path for path in (at.folder, *at.folder.rglob("*")) if _is_shared(path)):
        names = ", ".join(str(path.relative_to(at.folder)) for path in wide[:_MOST_NAMES])
        further = f" and {len(wide) - _MOST_NAMES} more" if len(wide) > _MOST_NAMES else ""
        message = f"users other than their owner may use {names}{further} in {at.folder}"
        yield Finding("files", Level.WARNING, message, f"chmod -R go-rwx {at.folder}")
    data = at.engine.url.database if at.engine and at.engine.dialect.name == "sqlite" else None
    is_elsewhere = data is not None and not Path(data).is_relative_to(at.folder)
    if data and is_elsewhere and _is_shared(Path(data)):
        wide.append(Path(data))
        message = f"users other than its owner may use {data}"
        yield Finding("files", Level.WARNING, message, f"chmod go-rwx {data}*")
    if not wide:
        yield Finding("files", Level.GOOD, "only their owner may use the instance folder's files")


def _is_shared(path: Path) -> bool:
    """Return whether users other than the owner have access to a file.

    False for a symbolic link.
    """
    try:
        mode = path.lstat().st_mode
    except OSError:  # a running server has just removed the file
        return False
    return not stat.S_ISLNK(mode) and bool(mode & (stat.S_IRWXG | stat.S_IRWXO))


def check_disk(at: Installation) -> Iterator[Finding]:
    """Check that files can be created, and the free space where the data are written."""
    free_bytes, spare = shutil.disk_usage(at.folder).free, files_to_spare(at.folder)
    message = f"{free_bytes / 2**20:,.0f} MiB are free at {at.folder}"
    remedy = "Free some space, or move the instance folder"
    # Inodes can run out while bytes are free, and no error then names the cause.
    if spare is not None and spare < _GOOD_NAMES:
        message = f"only {spare} more files can be created at {at.folder} (df -i)"
        level = Level.FAULT if spare < LEAST_NAMES else Level.WARNING
        remedy = "Delete small files of other programs on this disk, or move the instance folder"
        yield Finding("disk", level, message, remedy)
    elif free_bytes < _LEAST_ROOM_BYTES:
        yield Finding("disk", Level.FAULT, message, remedy)
    elif free_bytes < _GOOD_ROOM_BYTES:
        yield Finding("disk", Level.WARNING, message, remedy)
    else:
        yield Finding("disk", Level.GOOD, message)


def check_open_files(at: Installation) -> Iterator[Finding]:
    """Check that a process may open as many files as it has connections.

    The server raises its own limit to the system's maximum, so that maximum is checked.
    """
    _, hard = most_open_files()
    needed = at.settings.connections + OTHER_OPEN_FILES
    limit_text = "any number of" if hard is None else str(hard)
    message = f"a process may open {limit_text} files; {needed} are enough"
    if hard is not None and hard < needed:
        remedy = (
            f"LimitNOFILE={needed} in the systemd unit, ulimit -Hn {needed}, or fewer connections"
        )
        yield Finding("open_files", Level.WARNING, message, remedy)
    else:
        yield Finding("open_files", Level.GOOD, message)


def check_log(at: Installation) -> Iterator[Finding]:
    """Search the end of the log for tokens, platform ids and network addresses."""
    path = at.folder / "server.log"
    if not path.exists():
        yield Finding(
            "log",
            Level.GOOD,
            "there is no server.log here; the log of a systemd service is in the journal",
        )
        return
    hits = sum(1 for _ in _make_private_pattern().finditer(_read_end(path)))
    if hits:
        message = (
            f"{hits} places in {path} look like a token, a participant's platform id or an "
            "IP address"
        )
        remedy = "Look at them. If they are, delete the file and report which program wrote them"
        yield Finding("log", Level.FAULT, message, remedy)
    else:
        yield Finding("log", Level.GOOD, f"{path} holds nothing that identifies people")


def _read_end(path: Path) -> bytes:
    with path.open("rb") as log_file:
        log_file.seek(max(0, path.stat().st_size - _LOG_END_BYTES))
        return log_file.read()
