"""Backups encrypted in the age format, readable only with a private key."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from experiment.errors import why_unread
from webapp.database.backup.contents import BackupError

_MAGIC = b"age-encryption.org/v1"
_SSH_PREFIX = "ssh-"


def read_recipients(file: Path) -> list[Any]:
    """Return the recipients in a file with one public key per line (``age1...`` or ``ssh-...``).

    Raises:
        BackupError: The file cannot be read, is empty, or contains a line that is no public key.
    """
    age = _load_pyrage()
    public_keys = []
    for line in _read_lines(file):
        kind = age.ssh if line.startswith(_SSH_PREFIX) else age.x25519
        try:
            public_keys.append(kind.Recipient.from_str(line))
        except age.RecipientError as error:
            raise BackupError(
                f"a line is not a public key ({error})",
                where=str(file),
                expected="one line for each reader: age1... as age-keygen prints it, or ssh-...",
            ) from error
    if not public_keys:
        raise BackupError(
            "the file holds no public key", where=str(file), expected="one public key per line"
        )
    return public_keys


def encrypt(plain: Path, file: Path, to: Sequence[Any]) -> None:
    """Encrypt a file of any size for these recipients."""
    _load_pyrage().encrypt_file(str(plain), str(file), list(to))


def is_encrypted(file: Path) -> bool:
    """Return whether a file is encrypted.

    Raises:
        BackupError: The file cannot be read.
    """
    try:
        with file.open("rb") as backup_file:
            return backup_file.read(len(_MAGIC)) == _MAGIC
    except OSError as error:
        raise BackupError(
            f"the backup cannot be read ({error.strerror})", where=str(file)
        ) from error


@contextmanager
def decrypt_temporarily(file: Path, identity: Path | None) -> Iterator[Path]:
    """Yield the decrypted backup, which exists only during the block.

    Args:
        file: A backup, encrypted or not.
        identity: The file with the private key.

    Raises:
        BackupError: The backup is encrypted, and no matching key was given.
    """
    if not is_encrypted(file):
        yield file
        return
    if identity is None:
        raise BackupError(
            "the backup is encrypted", where=str(file), remedy="Give the key with --identity FILE"
        )
    age = _load_pyrage()
    with tempfile.TemporaryDirectory() as folder:
        decrypted = Path(folder) / "backup"
        try:
            age.decrypt_file(str(file), str(decrypted), _read_identities(identity))
        except (age.DecryptError, OSError) as error:
            raise BackupError(
                f"the backup cannot be decrypted ({error})",
                where=str(file),
                expected=f"an undamaged backup that was encrypted for the key in {identity}",
            ) from error
        yield decrypted


def _read_identities(file: Path) -> list[Any]:
    age = _load_pyrage()
    try:
        content = file.read_bytes()
        if content.startswith(b"-----BEGIN"):
            return [age.ssh.Identity.from_buffer(content)]
        return [age.x25519.Identity.from_str(line) for line in _read_lines(file)]
    except (OSError, age.IdentityError) as error:
        raise BackupError(
            f"the key cannot be read ({why_unread(error)})",
            where=str(file),
            expected="the file that age-keygen wrote, or an SSH key without a passphrase",
        ) from error


def _read_lines(file: Path) -> list[str]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BackupError(
            f"the file of keys cannot be read ({why_unread(error)})", where=str(file)
        ) from error
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def _load_pyrage() -> Any:  # noqa: ANN401 - a library without types
    try:
        import pyrage  # type: ignore[import-untyped]
    except ImportError as error:
        raise BackupError(
            "encrypting needs a library that is not installed",
            remedy="Install it with: pip install 'parallax-experiments[backup]'",
        ) from error
    return pyrage
