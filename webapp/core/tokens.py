"""References in links, and the signed tokens that identify participants."""

import hashlib
import secrets
from collections.abc import Sequence
from functools import lru_cache
from typing import Self

from itsdangerous import BadData, BadSignature, Signer, TimestampSigner
from itsdangerous.encoding import base64_decode, base64_encode

from webapp.core.i18n import gettext
from webapp.core.keys import Keys
from webapp.errors import RequestError

# No easily confused letters or digits, and no characters that a shell or a URL would change.
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
_REFERENCE_LENGTH = 12
_CACHE_SIZE = 10_000


def new_reference() -> str:
    """Return a random reference for a run or participant (59 bits, from the system's source)."""
    base = len(ALPHABET)
    number = secrets.randbelow(base**_REFERENCE_LENGTH)
    return "".join([ALPHABET[number // base**place % base] for place in range(_REFERENCE_LENGTH)])


class Tokens:
    """Signs participants' references, so that links cannot be forged.

    Args:
        secrets: The installation's signing secrets, oldest first: the last one signs, and
            signatures of all are accepted.
        pseudonyms: The secret for digests; by default the last signing secret.
    """

    def __init__(self, secrets: Sequence[str], pseudonyms: str = "") -> None:
        self._signer = _SignerPair(secrets, "participant")
        self._receipts = _SignerPair(secrets, "receipt")
        self._attempts = TimestampSigner(secrets, "attempt", digest_method=hashlib.sha256)
        digests = pseudonyms or secrets
        self._digests = Signer(digests, salt="digest", digest_method=hashlib.sha256)

    @classmethod
    def from_keys(cls, keys: Keys) -> Self:
        """Return the signer for an installation's keys."""
        return cls([key.secret for key in keys.signing], keys.pseudonyms[-1].secret)

    def issue(self, participant_ref: str) -> str:
        """Return the token that identifies this participant."""
        return self._signer.sign(participant_ref)

    def digest(self, text: str) -> str:
        """Return a keyed digest that reveals nothing about the text."""
        return self._digests.get_signature(text).decode()

    def sign_attempt(self, text: str) -> str:
        """Return a text signed with the time, for a cookie.

        The text is base64-encoded because browsers refuse cookies with control characters.
        """
        return self._attempts.sign(base64_encode(text)).decode()

    def read_attempt(self, signed: str, within_s: int) -> str:
        """Return the text of such a cookie.

        Raises:
            BadSignature: The signature is invalid or too old.
        """
        signed_text = self._attempts.unsign(signed, max_age=within_s)
        try:
            return base64_decode(signed_text).decode()
        except (BadData, UnicodeDecodeError) as error:  # from an earlier version
            raise BadSignature("not signed by this version") from error

    def receipt(self, participant_ref: str) -> str:
        """Return the receipt for a platform about a finished participant; it opens no session."""
        return self._receipts.sign(participant_ref)

    def read_receipt(self, receipt: str) -> str | None:
        """Return the participant's reference; None if the receipt is not from this installation."""
        try:
            return self._receipts.unsign(receipt)
        except BadSignature:
            return None

    def read(self, token: str) -> str:
        """Return the participant's reference.

        Raises:
            RequestError: The token was not issued by this installation.
        """
        ref = self.read_known(token)
        if ref is None:
            raise RequestError(
                gettext("This link is incomplete. Please open the link you were given once more."),
                status=401,
                code="bad_token",
            )
        return ref

    def read_known(self, token: str) -> str | None:
        """Return the participant's reference; None if the token is not from this installation."""
        try:
            return self._signer.unsign(token)
        except BadSignature:
            return None


class _SignerPair:
    """Signs with SHA-256, and accepts older signatures with SHA-1.

    Only one spelling of each signature is accepted: the last base64 character contains unused bits,
    and variants would give a session several URLs.
    """

    def __init__(self, secrets: Sequence[str], salt: str) -> None:
        self._signer = Signer(secrets, salt=salt, digest_method=hashlib.sha256)
        self._old = Signer(secrets, salt=salt, digest_method=hashlib.sha1)
        # All answers of a session carry the same token. Refused tokens are never cached.
        self.unsign = lru_cache(_CACHE_SIZE)(self._unsign)

    def sign(self, text: str) -> str:
        return self._signer.sign(text).decode()

    def _unsign(self, signed: str) -> str:
        signature = signed.rpartition(".")[2]
        try:
            if base64_encode(base64_decode(signature)).decode() != signature:
                raise BadSignature("the signature has another spelling")
        except BadData as error:
            raise BadSignature("there is no signature") from error
        signer = self._signer if self._signer.validate(signed) else self._old
        return signer.unsign(signed).decode()
