"""Open Prolific for commands that publish and pay, and for reporting endings."""

import ssl
import time
from functools import cache

import httpx

from webapp.core.addresses import is_loopback
from webapp.core.clock import Clock, utc_now
from webapp.errors import WebappError
from webapp.recruiters.prolific.api import ApiClient
from webapp.recruiters.prolific.client import ProlificClient
from webapp.recruiters.prolific.settings import LIVE, ProlificSettings, api_url

_ATTEMPTS, _TIMEOUT_S = 4, 30.0
# The token for a local stand-in if no token is set: the stand-in does not check it.
_PLAY_TOKEN = "parallax"


def open_prolific(
    settings: ProlificSettings,
    *,
    live: bool,
    attempts: int = _ATTEMPTS,
    timeout_s: float = _TIMEOUT_S,
    now: Clock = utc_now,
) -> ProlificClient:
    """Return the client of the endpoint that the settings name, without calling it yet.

    Args:
        settings: The installation's settings.
        live: Whether the command allows spending real money.
        attempts: How often a repeatable call is made before it counts as unanswered.
        timeout_s: The timeout of a call.
        now: The clock.

    Raises:
        WebappError: The endpoint is live and the command does not allow it, or there is no token.
    """
    if settings.endpoint == LIVE and not live:
        raise WebappError(
            "Prolific spends real money",
            where="prolific_endpoint = live",
            remedy="Add --live to the command, or try it first on a stand-in:"
            " parallax marketplace --platform prolific --port 8200",
        )
    return ProlificClient(settings.endpoint, open_api(settings, attempts, timeout_s), settings, now)


def open_api(
    settings: ProlificSettings, attempts: int = _ATTEMPTS, timeout_s: float = _TIMEOUT_S
) -> ApiClient:
    """Return the API that the settings name, with their token.

    Raises:
        WebappError: There is no token.
    """
    url = api_url(settings)
    token = settings.token.get_secret_value()
    if not token and not is_loopback(url):
        raise WebappError(
            "there is no API token",
            where="prolific_token",
            remedy="docs/prolific.md says where Prolific shows it",
        )
    http = httpx.Client(
        base_url=url,
        headers={"Authorization": f"Token {token or _PLAY_TOKEN}"},
        timeout=timeout_s,
        # A proxy from the environment cannot reach this machine's own addresses.
        trust_env=not is_loopback(url),
        follow_redirects=False,
        verify=_load_tls_context(),
    )
    return ApiClient(http, attempts, time.sleep)


@cache
def _load_tls_context() -> ssl.SSLContext:
    """Return the TLS context with its authorities, loaded once: loading is slower than a call."""
    return httpx.create_ssl_context()
