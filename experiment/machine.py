"""Portable access to operating-system features: file locks, users, limits.

Linux and macOS have all of these. Windows has its own kind of locks; other missing features are
skipped, and each function documents the effect.
"""

import os
import sys
from pathlib import Path

try:
    import fcntl as fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None  # type: ignore[assignment]
try:
    import pwd
except ModuleNotFoundError:  # Windows
    pwd = None  # type: ignore[assignment]
try:
    import resource
except ModuleNotFoundError:  # Windows
    resource = None  # type: ignore[assignment]
try:
    import msvcrt
except ModuleNotFoundError:  # every system but Windows
    msvcrt = None  # type: ignore[assignment]

# Beyond the end of any file of ours: on Windows other processes cannot read locked bytes.
_LOCKED_BYTE = 2**30
_MACHINE_ID = Path("/etc/machine-id")
_WINDOWS_ID = r"SOFTWARE\Microsoft\Cryptography"


def lock_file(descriptor: int, *, shared: bool = False) -> bool:
    """Lock an open file for this process, and return whether the lock was acquired.

    Windows has no shared locks: there, only one process at a time has the lock.

    Raises:
        OSError: The file system does not support locks.
    """
    if fcntl is not None:
        mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        try:
            fcntl.flock(descriptor, mode | fcntl.LOCK_NB)
        except (BlockingIOError, InterruptedError):
            return False
        return True
    os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    return True


def unlock_file(descriptor: int) -> None:
    """Release a file's lock; closing the file also releases it.

    Raises:
        OSError: The file is closed.
    """
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        return
    os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
    msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)


def machine_id() -> str:
    """Return the machine's id from systemd or Windows; empty if there is none."""
    if sys.platform == "win32":
        import winreg

        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, _WINDOWS_ID) as key:
            return str(winreg.QueryValueEx(key, "MachineGuid")[0])
    try:
        return _MACHINE_ID.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def user_number() -> int:
    """Return the user id of this process; 0 on Windows, as for every file there."""
    return os.geteuid() if hasattr(os, "geteuid") else 0


def user_name(number: int) -> str:
    """Return a user's name, or the user id if the user has no name."""
    if pwd is None:
        return str(number)
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def most_open_files() -> tuple[int | None, int | None]:
    """Return the soft and hard limits of open files for this process; None if unlimited."""
    if resource is None:
        return None, None
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft, hard = (None if limit == resource.RLIM_INFINITY else limit for limit in limits)
    return soft, hard


def allow_open_files(number: int) -> None:
    """Raise this process's limit of open files; does nothing on systems without such a limit."""
    if resource is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (number, hard))


def bound_process(pid: int, cpu_s: int, memory_bytes: int) -> None:
    """Limit the CPU time and memory of a process that was just started; only on Linux.

    Above the CPU limit the signal XCPU ends the process; above the memory limit allocations fail.
    """
    if hasattr(resource, "prlimit"):
        resource.prlimit(pid, resource.RLIMIT_CPU, (cpu_s, cpu_s + 5))
        resource.prlimit(pid, resource.RLIMIT_AS, (memory_bytes, memory_bytes))


def files_to_spare(folder: Path) -> int | None:
    """Return how many more files can be created in a folder; None if there is no limit.

    Raises:
        OSError: The folder cannot be accessed.
    """
    if not hasattr(os, "statvfs"):  # Windows
        return None
    status = os.statvfs(folder)
    return status.f_favail if status.f_files else None


def has_forking_server() -> bool:
    """Return whether gunicorn can run here; it cannot on Windows."""
    return fcntl is not None and hasattr(os, "fork")
