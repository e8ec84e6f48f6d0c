"""The instance folder: the installation's own settings, database and secret."""

import os
import secrets
from pathlib import Path

from webapp.core.settings import INSTANCE_VARIABLE
from webapp.errors import WebappError

_SECRET_FILE = "secret_key"
_SHORTEST_SECRET = 32
_OTHERS = 0o007
_OWNER_ALONE = 0o077


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


def key_file(instance: Path, given: str = "") -> Path:
    """Return where the key lies that ``secret_key`` returns."""
    return instance / (given or _SECRET_FILE)


def secret_key(instance: Path, given: str = "") -> str:
    """Return the key that signs participants' links, made once for each installation.

    Args:
        instance: The instance folder, which holds the key unless another file is given.
        given: That file, which is never made here: servers on several machines share it.

    Raises:
        WebappError: The key cannot be read or written, or is too short to be one.
    """
    path = key_file(instance, given)
    try:
        if not given and not path.exists():
            _write_once(path, secrets.token_hex(32))
        key = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise WebappError(
            f"the secret key can be neither read nor made ({error})", where=str(path)
        ) from error
    if len(key) < _SHORTEST_SECRET:
        raise WebappError(
            "the secret key is too short",
            where=str(path),
            expected=f"at least {_SHORTEST_SECRET} characters",
            remedy="Delete the file to get a new key; links handed out before stop working",
        )
    if os.name == "posix" and path.stat().st_mode & _OTHERS:
        raise WebappError(
            "everybody on this machine can read the secret key",
            where=str(path),
            expected="a file that only its owner, or its group, can read",
            remedy=f"chmod 600 {path}",
        )
    return key


def _write_once(path: Path, text: str) -> None:
    # Two servers may start at once: linking a finished file under the name either succeeds as a
    # whole or finds that the other's key is already there.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        os.link(temporary, path)
    except FileExistsError:
        pass
    finally:
        temporary.unlink()


def _unusable(folder: Path, reason: str) -> WebappError:
    return WebappError(
        f"the instance folder cannot be used: {reason}",
        where=str(folder),
        expected="a folder this user may write to",
        remedy=f"Give another in {INSTANCE_VARIABLE}",
    )
