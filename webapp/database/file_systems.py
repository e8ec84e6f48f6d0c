"""Whether the database can be stored: the file system, and trial writes that are undone.

SQLite needs a file system that machines do not share, with working locks.

Local and network file systems are recognised by their name. Shared folders of virtual machines and
containers (9p, virtiofs, vboxsf) and FUSE file systems (davfs, sshfs) differ between versions, so
locks and shared memory are tested as well.

Checking permissions and free space finds fewer problems than one write does: a lock file of another
user, a read-only database, a quota, a file system without free inodes.
"""

import errno
import mmap
import os
import re
import struct
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic

from sqlalchemy import Engine, insert
from sqlalchemy.exc import SQLAlchemyError

from experiment.machine import fcntl, user_number
from webapp.database.models import Stamp
from webapp.errors import WebappError

MOUNTS = Path("/proc/mounts")
_NETWORK_KINDS = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "lustre", "gpfs", "beegfs"),
        *("glusterfs", "ocfs2", "gfs2", "fuse.sshfs", "fuse.glusterfs", "fuse.ceph"),
    }
)
_ESCAPED = re.compile(r"\\([0-7]{3})")


def refuse_network_disk(file: Path, mounts: str) -> None:
    """Raise an error if an SQLite file is on a disk that other machines can access.

    SQLite's write-ahead log uses shared memory: processes on two machines would not see each
    other's, and the file would be damaged.

    Args:
        file: The database's file, which need not exist yet.
        mounts: The content of ``/proc/mounts``.

    Raises:
        WebappError: The file is on a network file system.
    """
    kind = file_system(file, mounts)
    if kind in _NETWORK_KINDS:
        raise WebappError(
            f"an SQLite file on a network file system ({kind}) can be damaged by a second machine",
            where=str(file),
            expected="a file on a disk of this machine",
            remedy="Put it there, or use PostgreSQL: docs/database.md",
        )


def file_system(file: Path, mounts: str) -> str:
    """Return the type of a file's file system; empty if unknown."""
    resolved_file, mount_point, kind = file.resolve(), Path(), ""
    for line in mounts.splitlines():
        _, point, mounted_kind, *_ = line.split(" ")
        mount_path = Path(_ESCAPED.sub(lambda code: chr(int(code[1], 8)), point))
        # A later mount hides an earlier one at the same path.
        if resolved_file.is_relative_to(mount_path) and len(mount_path.parts) >= len(
            mount_point.parts
        ):
            mount_point, kind = mount_path, mounted_kind
    return kind


Lock = Callable[[int], None]

_PAGE_BYTES = mmap.PAGESIZE
# struct flock on 64-bit Linux: type, whence, start, length, process.
_WHOLE_FILE_LOCK = (
    b"" if fcntl is None else struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
)
_IS_LOCKED = (errno.EACCES, errno.EAGAIN)
# Locks per open file, not per process, so that one process can test both sides.
_SET_LOCK = getattr(fcntl, "F_OFD_SETLK", None)


def refuse_unfit_folder(folder: Path) -> None:
    """Raise an error if an SQLite file in a folder could be damaged or could not be shared.

    SQLite itself reports a folder that is not writable; a full disk passes the test.

    Raises:
        WebappError: Locks do not work, or memory is not shared.
    """
    # Without fcntl, SQLite uses the system's own locks, which work on local disks on Windows.
    missing_feature = find_missing_feature(folder) if fcntl is not None else ""
    if missing_feature:
        raise WebappError(
            f"an SQLite file cannot lie on this file system: {missing_feature}",
            where=str(folder),
            expected="a file on a disk of this machine",
            remedy="Put it there, or use PostgreSQL: docs/database.md",
        )


def find_missing_feature(folder: Path) -> str:
    """Return the missing feature of a folder's file system; empty if none is missing."""
    try:
        descriptor, name = tempfile.mkstemp(prefix=".parallax-trial-", dir=folder)
    except OSError:
        return ""
    second_descriptor = -1
    try:
        os.write(descriptor, b"\0" * _PAGE_BYTES)
        second_descriptor = os.open(name, os.O_RDWR | os.O_CLOEXEC)
        return (
            _explain_lock_failure(
                descriptor, second_descriptor, _lock_whole, "of whole files (flock)"
            )
            or _explain_lock_failure(
                descriptor, second_descriptor, _lock_ranges, "of ranges (fcntl)"
            )
            or _explain_memory_failure(descriptor, second_descriptor)
        )
    except OSError as error:
        # A full disk or too many open files is not the file system's fault.
        temporary_errors = (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE)
        return (
            ""
            if error.errno in temporary_errors
            else f"a file cannot be created or read there ({error.strerror})"
        )
    finally:
        for open_descriptor in (descriptor, second_descriptor):
            if open_descriptor >= 0:
                os.close(open_descriptor)
        Path(name).unlink(missing_ok=True)


def _lock_whole(descriptor: int) -> None:
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _lock_ranges(descriptor: int) -> None:
    if _SET_LOCK is not None:
        fcntl.fcntl(descriptor, _SET_LOCK, _WHOLE_FILE_LOCK)


def _explain_lock_failure(first: int, second: int, lock: Lock, lock_kind: str) -> str:
    try:
        lock(first)
    except OSError as error:
        return f"it has no locks {lock_kind}: {error.strerror}"
    try:
        lock(second)
    except OSError as error:
        return "" if error.errno in _IS_LOCKED else f"its locks {lock_kind} fail: {error.strerror}"
    return (
        ""
        if lock is _lock_ranges and _SET_LOCK is None
        else f"its locks {lock_kind} do not keep other programs out"
    )


def _explain_memory_failure(first: int, second: int) -> str:
    try:
        with (
            mmap.mmap(first, _PAGE_BYTES) as first_map,
            mmap.mmap(second, _PAGE_BYTES) as second_map,
        ):
            first_map[:4] = b"seen"
            return (
                "" if second_map[:4] == b"seen" else "two programs do not see each other's memory"
            )
    except (OSError, ValueError) as error:
        return f"it shares no memory: {error}"


# The size of an answer with its log line; an empty file fits even on a full disk.
_TRIAL_BYTES = b"\0" * 16_384
# An id that no sequence generates, so that none is used up; the row is never committed.
_TRIAL_ROW = {"id": 0, "name": "write trial", "value": ""}
# More frequent calls get the cached result, because the public must not trigger writes at will.
_CACHED_FOR_S = 5.0


def explain_write_failure(engine: Engine, instance: Path) -> str:
    """Return the reason why no data can be stored at this moment; empty if they can."""
    folders = {instance}
    if engine.dialect.name == "sqlite" and engine.url.database:
        folders.add(Path(engine.url.database).resolve().parent)
    for folder in sorted(folders):
        try:
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(_TRIAL_BYTES)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            return f"nothing can be written to {folder} ({error.strerror})"
    try:
        with engine.connect() as connection, connection.begin() as transaction:
            connection.execute(insert(Stamp), _TRIAL_ROW)
            transaction.rollback()
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error).partition("\n")[0]
        return f"nothing can be written to the database ({reason})"
    return ""


def list_foreign_files(instance: Path, database: Path | None = None) -> Iterator[Path]:
    """Yield the files that belong to another user, to which a server cannot write.

    Args:
        instance: The instance folder; only files directly in it are checked.
        database: An SQLite file; it is checked with the files next to it.
    """
    if not instance.is_dir():
        return
    paths = {instance, *instance.iterdir()}
    if database is not None:
        paths |= set(database.parent.glob(f"{database.name}*"))
    for path in sorted(paths):
        try:
            owner = path.lstat().st_uid
        except OSError:  # a file that a running server has just deleted
            continue
        if owner != user_number():
            yield path


class WriteTrial:
    """The cached result of a trial write, shared by all callers in a process for some seconds."""

    def __init__(self, engine: Engine, instance: Path) -> None:
        self._engine, self._instance = engine, instance
        self._lock, self._until, self._problem = threading.Lock(), 0.0, ""

    def problem(self) -> str:
        """Return the reason why no data can be stored, a few seconds old at most; else ""."""
        with self._lock:
            if monotonic() >= self._until:
                self._problem = explain_write_failure(self._engine, self._instance)
                self._until = monotonic() + _CACHED_FOR_S
            return self._problem
