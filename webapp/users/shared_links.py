"""Links by which anybody can read one thing that was made: a secret, of which a digest is kept."""

import hmac
import secrets
from hashlib import sha256
from pathlib import Path

_FILE = "shared"


def link_of(folder: Path) -> str:
    """Make the secret of a folder's link, which ends the one before, and return it."""
    secret = secrets.token_urlsafe(24)
    (folder / _FILE).write_text(_digest(secret), encoding="ascii", newline="\n")
    return secret


def shared(folder: Path, secret: str | None = None) -> bool:
    """Return whether a folder has a link, and whether the secret is its own where one is given."""
    try:
        kept = (folder / _FILE).read_text(encoding="ascii")
    except FileNotFoundError:
        return False
    return secret is None or hmac.compare_digest(kept, _digest(secret))


def take_back(folder: Path) -> None:
    """End a folder's link."""
    (folder / _FILE).unlink(missing_ok=True)


def _digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
