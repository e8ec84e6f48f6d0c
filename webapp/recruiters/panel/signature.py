"""Verify a panel's signed links; invalid links are refused."""

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from experiment.panels.panel import Panel
from experiment.panels.signing import HASHES, HMACS, UnfilledError, fill, is_signature, parts_before
from experiment.panels.table import Signature
from webapp.core.i18n import gettext
from webapp.errors import RequestError
from webapp.recruiters.arrivals import ArrivalError, Landing

if TYPE_CHECKING:
    import jwt

_TIMEOUT_S = 5
_KEY_CACHE_S = 3600
# An unknown key is fetched immediately, but at most this often.
_UNKNOWN_KEY_CACHE_S = 5


class SignatureVerifier:
    """Verifies tokens; caches the platforms' public keys for an hour."""

    def __init__(self) -> None:
        self._keys: dict[str, jwt.PyJWKClient] = {}

    def check(self, panel: Panel, landing: Landing, secrets: Mapping[str, str]) -> None:
        """Check that the platform signed the link.

        Raises:
            ArrivalError: The token is missing, forged, expired or belongs to another person.
            RequestError: The platform's keys cannot be fetched at the moment.
        """
        signature = panel.signature
        if signature is None:
            return
        token = landing.arguments.get(signature.parameter, "")
        if signature.algorithm in (*HASHES, *HMACS):
            good = _is_code(panel, signature, token, landing, secrets)
        else:
            good = self._is_token(panel, signature, token, landing, secrets)
        if not good:
            raise ArrivalError(
                gettext(
                    "This link is not valid, or is too old. Please open the study once more from"
                    " the page where you found it."
                ),
                code="bad_signature",
                parameter=signature.parameter,
            )

    def _is_token(
        self,
        panel: Panel,
        signature: Signature,
        token: str,
        landing: Landing,
        secrets: Mapping[str, str],
    ) -> bool:
        # Imported late: the import loads network code, which the server's worker must patch first.
        import jwt

        values = {
            **landing.arguments,
            **panel.values,
            "url": _remove_signature(landing.url, signature),
        }
        try:
            claims = jwt.decode(
                token,
                secrets.get(signature.secret) or self._key(signature, token),
                algorithms=[signature.algorithm],
                issuer=signature.issuer or None,
                audience=fill(signature.audience, values) if signature.audience else None,
                leeway=signature.leeway_s,
                options={"require": ["exp"], "verify_aud": bool(signature.audience)},
            )
        except jwt.PyJWKClientConnectionError as error:
            raise _make_unavailable_error() from error
        except (jwt.PyJWTError, UnfilledError, ValueError):
            return False
        return all(
            _claim(claims, path) == landing.arguments.get(name)
            for name, path in signature.claims.items()
        )

    def _key(self, signature: Signature, token: str) -> "jwt.PyJWK":
        import jwt

        client = self._keys.get(signature.keys)
        if client is None:
            client = self._keys[signature.keys] = jwt.PyJWKClient(
                signature.keys,
                lifespan=_KEY_CACHE_S,
                timeout=_TIMEOUT_S,
                cooldown_duration=_UNKNOWN_KEY_CACHE_S,
            )
        return client.get_signing_key_from_jwt(token)


def _is_code(
    panel: Panel, signature: Signature, token: str, landing: Landing, secrets: Mapping[str, str]
) -> bool:
    values = {**landing.arguments, **panel.values, **secrets}
    return is_signature(
        signature, token, {**values, **parts_before(landing.url, signature.parameter)}
    )


def _claim(claims: object, path: str) -> object:
    for name in path.split("."):
        claims = claims.get(name) if isinstance(claims, dict) else None
    return claims


def _remove_signature(url: str, signature: Signature) -> str:
    parts = urlsplit(url)
    parameters = [
        (name, value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if name != signature.parameter
    ]
    return urlunsplit(parts._replace(query=urlencode(parameters)))


def _make_unavailable_error() -> RequestError:
    return RequestError(
        gettext("We cannot check this link at the moment. Please load the page again in a minute."),
        status=503,
        code="unavailable",
    )
