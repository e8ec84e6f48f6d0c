"""Where Mechanical Turk answers: for programs, and for workers' browsers."""

from urllib.parse import urlsplit

from webapp.core.urls import is_loopback, is_secure
from webapp.errors import WebappError
from webapp.recruiters.mturk.settings import MturkSettings

LIVE, SANDBOX = "live", "sandbox"
API_URLS = {
    LIVE: "https://mturk-requester.us-east-1.amazonaws.com",
    SANDBOX: "https://mturk-requester-sandbox.us-east-1.amazonaws.com",
}
_WORKER_SITES = {
    LIVE: ("https://www.mturk.com", "https://worker.mturk.com"),
    SANDBOX: ("https://workersandbox.mturk.com",),
}
CLOSED = "Amazon closed Mechanical Turk for good on 30 September 2026"


def api_url(endpoint: str) -> str:
    """Return the address that programs call.

    Raises:
        WebappError: The endpoint is an address in clear text that is not this machine's.
    """
    if endpoint in API_URLS:
        return API_URLS[endpoint]
    if not is_secure(endpoint):
        raise WebappError(
            f'requests to "{endpoint}" would not be encrypted',
            where="mturk_endpoint",
            expected="live, sandbox or an address that begins with https://",
            remedy="Only a marketplace on this machine may be called by http://",
        )
    return endpoint.rstrip("/")


def worker_sites(settings: MturkSettings) -> tuple[str, ...]:
    """Return the sites from which workers of the endpoint come, and to which they submit."""
    if settings.endpoint in _WORKER_SITES:
        return _WORKER_SITES[settings.endpoint]
    site = (settings.worker_site or settings.endpoint).rstrip("/")
    if not is_loopback(site):
        return (site,)
    # A browser on this machine may name it either way.
    parts = urlsplit(site)
    port = f":{parts.port}" if parts.port else ""
    return tuple(f"{parts.scheme}://{host}{port}" for host in ("127.0.0.1", "localhost"))


def framing_sites(settings: MturkSettings) -> tuple[str, ...]:
    """Return the workers' sites as a content security policy names them."""
    if settings.endpoint in API_URLS:
        return ("https://*.mturk.com",)
    return worker_sites(settings)
