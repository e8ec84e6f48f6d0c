"""The instance folder: the installation's own settings, database and secret."""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from experiment.machine import user_name, user_number
from webapp.core.settings import INSTANCE_VARIABLE
from webapp.errors import WebappError

_SECRET_FILE = "secret_key"
_OWNER_ALONE = 0o077
UNREADABLE = "Give the file to the user of the service (chown), and let it read it: chmod 600"


def write_for_owner_alone() -> None:
    """Let nobody but this process's user read what it writes from now on."""
    os.umask(_OWNER_ALONE)


def open_instance(folder: Path | None = None) -> Path:
    """Return the instance folder, made if it is missing.

    Whatever this process writes afterwards, there or elsewhere, only its user can read.

    Args:
        folder: Which; by default the one ``PARALLAX_INSTANCE`` names, or ``./instance``.

    Raises:
        WebappError: It cannot be made or written to.
    """
    write_for_owner_alone()
    folder = folder or Path(os.environ.get(INSTANCE_VARIABLE) or "instance")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK | os.X_OK)
    except OSError as error:
        raise _unusable(folder, str(error)) from error
    if not writable:
        raise _unusable(folder, "it is read-only")
    return folder.resolve()


def refuse_other_user(folder: Path) -> None:
    """Let pass only the user to whom an instance folder belongs, if it is there.

    Raises:
        WebappError: It is another's: files that are made there could not be used by the server.
    """
    try:
        owner = folder.stat().st_uid
    except OSError:  # the code that opens it reports the fault
        return
    if owner == user_number():
        return
    name = user_name(owner)
    raise WebappError(
        f"the instance folder belongs to the user {name}, and this command runs as "
        f"{user_name(user_number())}: what it leaves there would stop the server",
        where=str(folder),
        remedy=f"Give the command as that user: sudo -u {name} parallax ...",
    )


def key_file(instance: Path, given: str = "") -> Path:
    """Return where the keys lie, unless another file is given."""
    return instance / (given or _SECRET_FILE)


def write_once(path: Path, text: str) -> None:
    """Write a file for its owner alone, unless it is there already."""
    # Two servers may start at once: linking a finished file under the name either succeeds as a
    # whole or finds that the other's key is already there.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.link(temporary, path)
    except FileExistsError:
        pass
    except OSError:
        # File systems without links, as on USB sticks: the first process writes in place.
        with suppress(FileExistsError), path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    finally:
        temporary.unlink()


def replace_text(path: Path, text: str) -> None:
    """Put a text in the place of a file's, wholly or not at all, for the same readers.

    Raises:
        OSError: It cannot be written; the file is as it was.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(descriptor)
        temporary.chmod(mode)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _unusable(folder: Path, reason: str) -> WebappError:
    return WebappError(
        f"the instance folder cannot be used: {reason}",
        where=str(folder),
        expected="a folder that the user running Parallax can write to",
        remedy=f"chmod u+rwx {folder}, if it is the right one; else name another folder in the"
        f" variable {INSTANCE_VARIABLE}",
    )
