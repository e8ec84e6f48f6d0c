"""How platform ids are stored: encrypted, with a keyed digest for searches, or replaced.

The replacement for a forgotten person's ids is a digest of both ids together. The same assignment
is therefore recognised when the platform reports it again, but the database reveals neither id.
"""

import base64
import hashlib
import hmac
import secrets
from functools import cached_property

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from webapp.core.keys import Key, Keys, Purpose
from webapp.errors import WebappError

_KEY_BYTES = 32
FORGOTTEN_PREFIX = "forgotten:"
_NONCE_BYTES = 12  # as NIST SP 800-38D recommends for AES-GCM


class Sealer:
    """Seals texts with the newest key, and opens texts sealed with any key.

    Attributes:
        keys: The installation's keys.
    """

    def __init__(self, keys: Keys) -> None:
        self.keys = keys

    def seal(self, text: str) -> str:
        """Return a text encrypted with AES-GCM, prefixed with the key's id."""
        key = self.keys.sealing[-1].id
        nonce = secrets.token_bytes(_NONCE_BYTES)
        content = self._ciphers[key].encrypt(nonce, text.encode("utf-8", "surrogatepass"), None)
        return f"{key}.{base64.b64encode(nonce + content).decode()}"

    def open(self, sealed: str) -> str:
        """Return the plain text of a sealed (encrypted) text.

        Raises:
            WebappError: The key is missing, or differs from the original key with that id.
        """
        key, _, content = sealed.partition(".")
        try:
            nonce_and_text = base64.b64decode(content)
            cipher = self._ciphers[int(key)]
            text = cipher.decrypt(
                nonce_and_text[:_NONCE_BYTES], nonce_and_text[_NONCE_BYTES:], None
            )
        except (KeyError, ValueError, InvalidTag) as error:
            raise WebappError(
                "participants' platform ids cannot be decrypted: they were encrypted with "
                "another key",
                where=f"a file of keys with key {key} for sealing",
                remedy="Restore your copy of the keys file (docs/privacy.md)",
            ) from error
        return text.decode("utf-8", "surrogatepass")

    def digest(self, text: str) -> str:
        """Return a text's keyed digest, which reveals nothing about the text without the key."""
        return self._digest(self.keys.pseudonyms[-1].id, text)

    def digests(self, text: str) -> list[str]:
        """Return a text's digest under every key; an older key may have made the stored one."""
        return [self._digest(key, text) for key in self._digest_keys]

    @property
    def digest_ids(self) -> frozenset[int]:
        """The ids of the keys with which digests can be made."""
        return frozenset(self._digest_keys)

    def _digest(self, key: int, text: str) -> str:
        content = text.encode("utf-8", "surrogatepass")
        return f"{key}.{hmac.new(self._digest_keys[key], content, hashlib.sha256).hexdigest()}"

    @cached_property
    def digest_prefix(self) -> str:
        """The prefix of every digest made with the newest key."""
        return f"{self.keys.pseudonyms[-1].id}."

    @cached_property
    def seal_prefix(self) -> str:
        """The prefix of every text sealed with the newest key."""
        return f"{self.keys.sealing[-1].id}."

    @cached_property
    def _digest_keys(self) -> dict[int, bytes]:
        return {key.id: _derive_key(key, Purpose.PSEUDONYMS) for key in self.keys.pseudonyms}

    @cached_property
    def _ciphers(self) -> dict[int, AESGCM]:
        return {key.id: AESGCM(_derive_key(key, Purpose.SEALING)) for key in self.keys.sealing}


def _derive_key(key: Key, purpose: Purpose) -> bytes:
    # The single key of earlier versions serves every purpose, with a derived key for each.
    info = f"parallax {purpose}".encode()
    return HKDF(SHA256(), _KEY_BYTES, salt=None, info=info).derive(key.secret.encode())


def forgotten_id(assignment_id: str, worker_id: str) -> str:
    """Return the text that replaces the platform ids of an assignment and its worker."""
    digest = hashlib.sha256("\x1f".join((assignment_id, worker_id)).encode("utf-8", "replace"))
    return f"{FORGOTTEN_PREFIX}{digest.hexdigest()}"


def is_forgotten(id_: str) -> bool:
    """Return whether a text is a replacement for a forgotten id."""
    return id_.startswith(FORGOTTEN_PREFIX)
