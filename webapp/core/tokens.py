"""References in links, and the signed tokens that stand for a participant."""

import secrets

from itsdangerous import BadSignature, Signer

from webapp.core.i18n import gettext
from webapp.errors import RequestError

# No letters or digits that are easily confused, and nothing a shell or a URL would change.
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
_REFERENCE_LENGTH = 12


def new_reference() -> str:
    """Return a random reference for a run or a participant (59 bits, from the system's source)."""
    return "".join(secrets.choice(ALPHABET) for _ in range(_REFERENCE_LENGTH))


class Tokens:
    """Signs participants' references, so that nobody can make up another's link.

    Args:
        secret_key: The installation's secret.
    """

    def __init__(self, secret_key: str) -> None:
        self._signer = Signer(secret_key, salt="participant")
        self._receipts = Signer(secret_key, salt="receipt")

    def issue(self, participant_ref: str) -> str:
        """Return the token that stands for this participant."""
        return self._signer.sign(participant_ref).decode()

    def receipt(self, participant_ref: str) -> str:
        """Return what a platform may know of who finished; it opens no session."""
        return self._receipts.sign(participant_ref).decode()

    def read_receipt(self, receipt: str) -> str | None:
        """Return the participant's reference, None where the receipt is none of ours."""
        try:
            return self._receipts.unsign(receipt).decode()
        except BadSignature:
            return None

    def read(self, token: str) -> str:
        """Return the participant's reference.

        Raises:
            RequestError: The token was not issued by this installation.
        """
        try:
            return self._signer.unsign(token).decode()
        except BadSignature as error:
            raise RequestError(
                gettext(
                    "This link is not complete. Please open the link you were given once more."
                ),
                status=401,
                code="bad_token",
            ) from error
