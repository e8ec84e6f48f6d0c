"""What one system has and another lacks, behind one door each: locks of files, users, limits.

Linux and macOS have all of it. Windows has locks of its own; what it lacks otherwise is left out,
and each function says what that means.
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

# Far behind what any file of ours holds: Windows lets nobody read what is locked.
_LOCKED_BYTE = 2**30
_MACHINE_ID = Path("/etc/machine-id")
_WINDOWS_ID = r"SOFTWARE\Microsoft\Cryptography"


def lock_file(descriptor: int, *, shared: bool = False) -> bool:
    """Lock an open file for this process, and return whether nobody else has it.

    Windows has no lock that several processes share: there, one of them has it at a time.

    Raises:
        OSError: The file system has no locks.
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
    """Give a file's lock back; closing the file does so too.

    Raises:
        OSError: The file is closed.
    """
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        return
    os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
    msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)


def machine_id() -> str:
    """Return what systemd or Windows calls this machine; empty where it has no such name."""
    if sys.platform == "win32":
        import winreg

        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, _WINDOWS_ID) as key:
            return str(winreg.QueryValueEx(key, "MachineGuid")[0])
    try:
        return _MACHINE_ID.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def user_number() -> int:
    """Return the number of this process's user; on Windows 0, as of every file there."""
    return os.geteuid() if hasattr(os, "geteuid") else 0


def user_name(number: int) -> str:
    """Return what a user is called; the number of one without a name."""
    if pwd is None:
        return str(number)
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def most_open_files() -> tuple[int | None, int | None]:
    """Return how many files this process may open, and how far it may raise that; None for any."""
    if resource is None:
        return None, None
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft, hard = (None if limit == resource.RLIM_INFINITY else limit for limit in limits)
    return soft, hard


def allow_open_files(number: int) -> None:
    """Raise this process's limit of open files; nothing where the system has none."""
    if resource is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (number, hard))


def bound_process(pid: int, cpu_s: int, memory_bytes: int) -> None:
    """Let a process that was just started have no more than this; on Linux alone.

    Beyond the first it is ended by the signal XCPU; beyond the second it finds no more memory.
    """
    if hasattr(resource, "prlimit"):
        resource.prlimit(pid, resource.RLIMIT_CPU, (cpu_s, cpu_s + 5))
        resource.prlimit(pid, resource.RLIMIT_AS, (memory_bytes, memory_bytes))


def files_to_spare(folder: Path) -> int | None:
    """Return how many more files can be made in a folder; None where there is no such limit.

    Raises:
        OSError: The folder cannot be looked at.
    """
    if not hasattr(os, "statvfs"):  # Windows
        return None
    status = os.statvfs(folder)
    return status.f_favail if status.f_files else None


def has_forking_server() -> bool:
    """Return whether gunicorn runs here: it does not on Windows."""
    return fcntl is not None and hasattr(os, "fork")
