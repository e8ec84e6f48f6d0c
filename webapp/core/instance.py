"""The instance folder: the installation's settings, database and keys."""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from experiment.machine import user_name, user_number
from webapp.core.settings import INSTANCE_VARIABLE
from webapp.errors import WebappError

_SECRET_FILE = "secret_key"
_OWNER_ONLY_UMASK = 0o077
READ_REMEDY = "Give the file to the user of the service (chown), and let it read it: chmod 600"


def restrict_new_files() -> None:
    """Make files that this process writes from now on readable only by its user."""
    os.umask(_OWNER_ONLY_UMASK)


def open_instance(folder: Path | None = None) -> Path:
    """Return the instance folder; create it if it is missing.

    Files that this process writes afterwards, there or elsewhere, are readable only by its user.

    Args:
        folder: The folder; by default the one in ``PARALLAX_INSTANCE``, or ``./instance``.

    Raises:
        WebappError: The folder cannot be created or written to.
    """
    restrict_new_files()
    folder = folder or Path(os.environ.get(INSTANCE_VARIABLE) or "instance")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK | os.X_OK)
    except OSError as error:
        raise _folder_error(folder, str(error)) from error
    if not writable:
        raise _folder_error(folder, "it is read-only")
    return folder.resolve()


def refuse_other_user(folder: Path) -> None:
    """Raise an error if the instance folder exists and belongs to another user.

    Raises:
        WebappError: The folder belongs to another user: the server could not use new files in it.
    """
    try:
        owner = folder.stat().st_uid
    except OSError:  # the code that opens it reports the error
        return
    if owner == user_number():
        return
    name = user_name(owner)
    raise WebappError(
        f"the instance folder belongs to the user {name}, and this command runs as "
        f"{user_name(user_number())}: files that it creates there would stop the server",
        where=str(folder),
        remedy=f"Run the command as that user: sudo -u {name} parallax ...",
    )


def key_file(instance: Path, configured: str = "") -> Path:
    """Return the path of the keys file; by default the one in the instance folder."""
    return instance / (configured or _SECRET_FILE)


def write_once(path: Path, text: str) -> None:
    """Write a file that only its owner can read, unless it exists already."""
    # Two servers may start at once: creating a hard link to the finished file either succeeds or
    # finds that the other server's file is already there.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.link(temporary, path)
    except FileExistsError:
        pass
    except OSError:
        # On file systems without hard links, such as USB sticks, the first process writes in place.
        with suppress(FileExistsError), path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    finally:
        temporary.unlink()


def replace_text(path: Path, text: str) -> None:
    """Replace a file's text atomically, and keep its permissions.

    Raises:
        OSError: The file cannot be written; it is unchanged.
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


def _folder_error(folder: Path, reason: str) -> WebappError:
    return WebappError(
        f"the instance folder cannot be used: {reason}",
        where=str(folder),
        expected="a folder that the user running Parallax can write to",
        remedy=f"chmod u+rwx {folder}, if it is the right folder; otherwise, name another one in"
        f" the variable {INSTANCE_VARIABLE}",
    )
