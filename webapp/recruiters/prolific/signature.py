"""Verify links that Prolific signed: for one participant and study, for about two minutes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from webapp.core.i18n import gettext
from webapp.errors import RequestError
from webapp.recruiters.arrivals import ArrivalError, Landing
from webapp.recruiters.prolific.settings import KEYS_PATH, ProlificSettings, api_url

if TYPE_CHECKING:
    import jwt

TOKEN_PARAMETER = "prolific_token"
SIGNED_PARAMETERS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
_ISSUER = "https://www.prolific.com"
_TOKEN_ARGUMENT = re.compile(rf"[?&]{TOKEN_PARAMETER}=[^&#]*")
# Prolific asks clients to refresh its keys at least once a day; an unknown key is fetched
# immediately.
_KEYS_KEPT_S, _PATIENCE_S = 6 * 60 * 60, 5
# Limits the fetches that invented key ids can cause.
_UNKNOWN_KEY_CACHE_S = 5


@dataclass
class SignatureVerifier:
    """Verifies tokens; caches the platform's keys."""

    settings: ProlificSettings
    _keys: "jwt.PyJWKClient | None" = field(default=None, init=False)

    def vouches(self, landing: Landing) -> bool:
        """Return whether the platform signed a link; if so, the link needs no check by a call.

        If signatures are optional, a link counts as unsigned if its signature is missing, old or of
        another address, or if the keys cannot be fetched.

        Raises:
            ArrivalError: The signature is forged or of another participant; if signatures are
                required, also if it is missing, old or of another address.
            RequestError: Signatures are required, and the platform's keys cannot be fetched.
        """
        strict = self.settings.signed_arrivals
        if strict is False or (strict is None and TOKEN_PARAMETER not in landing.arguments):
            return False
        try:
            is_good = self._check(landing)
        except _KeysUnavailableError:
            if strict:
                raise
            return False
        if strict and not is_good:
            raise _unsigned_link()
        return is_good

    def _check(self, landing: Landing) -> bool:
        """Return whether a token of the platform matches this address and time."""
        # Imported late: the import loads network code, which the server's worker must patch first.
        import jwt

        token = landing.arguments.get(TOKEN_PARAMETER, "")
        try:
            claims = jwt.decode(
                token,
                self._key(token),
                algorithms=["RS256"],
                issuer=_ISSUER,
                # Checked below instead, with the arrival's time as our clock gave it.
                options={
                    "require": ["exp", "iat", "aud", "sub"],
                    "verify_aud": False,
                    "verify_exp": False,
                    "verify_iat": False,
                },
            )
        except jwt.PyJWKClientConnectionError as error:
            raise _KeysUnavailableError from error
        except (jwt.PyJWTError, ValueError) as error:
            raise _unsigned_link() from error
        if not _claims_match_arguments(claims, landing.arguments):
            raise _unsigned_link()
        is_here = claims["aud"] == _TOKEN_ARGUMENT.sub("", landing.url)
        return is_here and self._is_fresh(claims, landing.at)

    def _is_fresh(self, claims: Mapping[str, object], at: datetime) -> bool:
        issued_at, expires_at = (claims.get(name) for name in ("iat", "exp"))
        if not isinstance(issued_at, int | float) or not isinstance(expires_at, int | float):
            return False
        leeway = self.settings.leeway_s
        return issued_at - leeway <= at.timestamp() <= expires_at + leeway

    def _key(self, token: str) -> "jwt.PyJWK":
        import jwt

        if self._keys is None:
            self._keys = jwt.PyJWKClient(
                f"{api_url(self.settings)}{KEYS_PATH}",
                lifespan=_KEYS_KEPT_S,
                timeout=_PATIENCE_S,
                cooldown_duration=_UNKNOWN_KEY_CACHE_S,
            )
        return self._keys.get_signing_key_from_jwt(token)


def _claims_match_arguments(claims: Mapping[str, object], arguments: Mapping[str, str]) -> bool:
    signed = claims.get("prolific")
    return (
        isinstance(signed, dict)
        and claims["sub"] == arguments.get("SESSION_ID")
        and all(signed.get(name) == arguments.get(name) for name in SIGNED_PARAMETERS)
    )


def _unsigned_link() -> ArrivalError:
    return ArrivalError(
        gettext(
            "This link is not valid, or is too old. Please open the study once more from the page"
            " where you found it."
        ),
        code="bad_signature",
        parameter=TOKEN_PARAMETER,
    )


class _KeysUnavailableError(RequestError):
    """The platform's keys cannot be fetched at the moment."""

    def __init__(self) -> None:
        super().__init__(
            gettext(
                "We cannot check this link at the moment. Please load the page again in a minute."
            ),
            status=503,
            code="unavailable",
        )
