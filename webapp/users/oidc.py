"""Sign-in through an OpenID Connect provider: the authorization code flow with PKCE.

The provider's configuration is read once; its keys are cached for an hour. A user's identity is
accepted only from an id token that the provider signed for this installation and this attempt
within the last minutes.
"""

import hashlib
import secrets
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from webapp.core.addresses import is_secure
from webapp.core.settings import Settings
from webapp.errors import RequestError

if TYPE_CHECKING:
    import jwt

_TIMEOUT_S = 5.0
_KEY_CACHE_S = 3600
_UNKNOWN_KEY_CACHE_S = 5
# The tolerated difference between the provider's clock and ours.
_LEEWAY_S = 30
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA")
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


@dataclass(frozen=True, slots=True)
class Attempt:
    """The secrets that identify one attempt to sign in.

    Attributes:
        state: Part of the address by which the browser returns.
        nonce: Part of the id token.
        verifier: Proves to the provider that the same party began and finishes the attempt.
    """

    state: str
    nonce: str
    verifier: str

    @classmethod
    def begin(cls) -> "Attempt":
        """Return a new attempt."""
        return cls(*(secrets.token_urlsafe(32) for _ in range(3)))


class Provider:
    """The provider that the settings name.

    Args:
        settings: The installation's settings; ``oidc_issuer`` is not empty.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._places: dict[str, Any] = {}
        self._keys: jwt.PyJWKClient | None = None

    def address(self, attempt: Attempt, back: str) -> str:
        """Return the address to which the browser is sent to sign in.

        Args:
            attempt: The attempt's secrets.
            back: Our address to which the provider sends the browser back.

        Raises:
            RequestError: The provider does not answer as an OpenID Connect provider.
        """
        challenge = urlsafe_b64encode(hashlib.sha256(attempt.verifier.encode()).digest())
        parameters = {
            "response_type": "code",
            "client_id": self._settings.oidc_client_id,
            "redirect_uri": back,
            "scope": "openid email profile",
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": challenge.rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        place = self._place("authorization_endpoint")
        return f"{place}{'&' if '?' in place else '?'}{urlencode(parameters)}"

    def name(self, attempt: Attempt, back: str, code: str) -> str:
        """Return the name of the user whom the provider sent back with a code.

        Args:
            attempt: The attempt's secrets.
            back: Our address to which the provider sent the browser back.
            code: The code.

        Raises:
            RequestError: The provider does not answer, or sends no valid id token.
        """
        claims = self._claims(attempt, self._id_token(attempt, back, code))
        claim = self._settings.oidc_claim
        name = claims.get(claim)
        if claim == "email" and claims.get("email_verified") is not True:
            raise _make_refusal("the provider has not verified the address of the account")
        if not isinstance(name, str) or not name:
            raise _make_refusal(f'the provider does not say the "{claim}" of the account')
        return name

    def _id_token(self, attempt: Attempt, back: str, code: str) -> str:
        client_id = self._settings.oidc_client_id
        secret = self._settings.oidc_client_secret.get_secret_value()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": back,
            "client_id": client_id,
            "code_verifier": attempt.verifier,
        }
        answer = self._ask("POST", self._place("token_endpoint"), form, (client_id, secret))
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise _make_refusal("the provider did not accept the attempt")
        return token

    def _claims(self, attempt: Attempt, token: str) -> dict[str, Any]:
        # Imported late: the import loads network code, which the server's worker must patch first.
        import jwt

        if self._keys is None:
            self._keys = jwt.PyJWKClient(
                self._place("jwks_uri"),
                lifespan=_KEY_CACHE_S,
                timeout=_TIMEOUT_S,
                cooldown_duration=_UNKNOWN_KEY_CACHE_S,
            )
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                self._keys.get_signing_key_from_jwt(token),
                algorithms=_ALGORITHMS,
                issuer=self._settings.oidc_issuer,
                audience=self._settings.oidc_client_id,
                leeway=_LEEWAY_S,
                options={"require": ["exp", "iat", "iss", "aud", "sub"]},
            )
        except jwt.PyJWKClientConnectionError as error:
            raise _make_unavailable_error() from error
        except jwt.PyJWTError as error:
            raise _make_refusal("the provider's token cannot be trusted") from error
        nonce = str(claims.get("nonce", "")).encode()
        if not secrets.compare_digest(nonce, attempt.nonce.encode()):
            raise _make_refusal("the provider's token belongs to another attempt")
        return claims

    def _place(self, name: str) -> str:
        if not self._places:
            issuer = self._settings.oidc_issuer
            at = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
            answer = self._ask("GET", at)
            places = {endpoint: answer.get(endpoint) for endpoint in _ENDPOINTS}
            usable = all(
                isinstance(endpoint, str) and is_secure(endpoint) for endpoint in places.values()
            )
            if answer.get("issuer") != issuer or not usable:
                raise _make_unavailable_error()
            self._places = places
        return str(self._places[name])

    def _ask(
        self,
        method: str,
        address: str,
        form: dict[str, str] | None = None,
        client: tuple[str, str] | None = None,
    ) -> dict[str, Any]:
        # As above.
        import httpx

        try:
            response = httpx.request(method, address, data=form, auth=client, timeout=_TIMEOUT_S)
            answer = response.json()
        except (httpx.HTTPError, ValueError) as error:
            raise _make_unavailable_error() from error
        if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR or not isinstance(answer, dict):
            raise _make_unavailable_error()
        return answer


def _make_refusal(reason: str) -> RequestError:
    return RequestError(
        f"You are not signed in: {reason}. Please try once more.",
        status=401,
        code="not_signed_in",
    )


def _make_unavailable_error() -> RequestError:
    return RequestError(
        "The sign-in provider does not answer as expected. Please try again in a "
        "minute, or sign in with a password.",
        status=503,
        code="provider_away",
    )
