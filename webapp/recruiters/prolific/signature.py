"""Links that Prolific signed: for whom, for which study, and for about two minutes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from webapp.core.i18n import gettext
from webapp.errors import RequestError
from webapp.recruiters.arrivals import ArrivalError, Landing
from webapp.recruiters.prolific.settings import ProlificSettings
from webapp.recruiters.prolific.sites import KEYS_PATH, api_url

if TYPE_CHECKING:
    import jwt

PARAMETER = "prolific_token"
SIGNED = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
_ISSUER = "https://www.prolific.com"
_TOKEN = re.compile(rf"[?&]{PARAMETER}=[^&#]*")
# Prolific asks for a look at its keys at least once a day; an unknown key is asked for at once.
_KEYS_KEPT_S, _PATIENCE_S = 6 * 60 * 60, 5
# Whoever invents keys makes us ask the platform no more often than this.
_UNKNOWN_KEYS_S = 5


@dataclass
class Signatures:
    """Checks tokens; the platform's keys are kept."""

    settings: ProlificSettings
    _keys: "jwt.PyJWKClient | None" = field(default=None, init=False)

    def check(self, landing: Landing) -> None:
        """Let pass only whom the platform sent, by the link that it made.

        Raises:
            ArrivalError: The token is missing, forged, too old, or of somebody or something else.
            RequestError: The platform's keys cannot be had at this moment.
        """
        # It brings the network along, which the server's worker must make its own first.
        import jwt

        token = landing.arguments.get(PARAMETER, "")
        try:
            claims = jwt.decode(
                token,
                self._key(token),
                algorithms=["RS256"],
                issuer=_ISSUER,
                audience=_TOKEN.sub("", landing.url),
                # The time is looked at below: by our clock, which comes with the landing.
                options={
                    "require": ["exp", "iat", "aud", "sub"],
                    "verify_exp": False,
                    "verify_iat": False,
                },
            )
        except jwt.PyJWKClientConnectionError as error:
            raise _unavailable() from error
        except (jwt.PyJWTError, ValueError) as error:
            raise _unsigned() from error
        fresh = self._is_fresh(claims, landing.at)
        if not (fresh and _says_the_same(claims, landing.arguments)):
            raise _unsigned()

    def _is_fresh(self, claims: Mapping[str, object], at: datetime) -> bool:
        made, ends = (claims.get(name) for name in ("iat", "exp"))
        if not isinstance(made, int | float) or not isinstance(ends, int | float):
            return False
        leeway = self.settings.leeway_s
        return made - leeway <= at.timestamp() <= ends + leeway

    def _key(self, token: str) -> "jwt.PyJWK":
        import jwt

        if self._keys is None:
            self._keys = jwt.PyJWKClient(
                f"{api_url(self.settings)}{KEYS_PATH}",
                lifespan=_KEYS_KEPT_S,
                timeout=_PATIENCE_S,
                cooldown_duration=_UNKNOWN_KEYS_S,
            )
        return self._keys.get_signing_key_from_jwt(token)


def _says_the_same(claims: Mapping[str, object], arguments: Mapping[str, str]) -> bool:
    signed = claims.get("prolific")
    return (
        isinstance(signed, dict)
        and claims["sub"] == arguments.get("SESSION_ID")
        and all(signed.get(name) == arguments.get(name) for name in SIGNED)
    )


def _unsigned() -> ArrivalError:
    return ArrivalError(
        gettext(
            "This link was not made by the platform, or is too old. Please open the study once"
            " more from the page where you found it."
        ),
        code="bad_signature",
        parameter=PARAMETER,
    )


def _unavailable() -> RequestError:
    return RequestError(
        gettext("We cannot check this link at the moment. Please load the page again in a minute."),
        status=503,
        code="unavailable",
    )
