"""The settings of Mechanical Turk and compatible marketplaces, their addresses and their fees."""

from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from webapp.core.addresses import is_loopback, is_secure
from webapp.core.settings import checked_url
from webapp.errors import WebappError
from webapp.recruiters.platform import Audience

# For a HIT with ten or more assignments, the platform doubles its fee on all of them.
MOST_PLACES = 9
_FEE_PERCENT, _MANY_PERCENT, _MASTERS_PERCENT = 20, 20, 5
_LEAST_FEE_CENTS = 1


class MturkSettings(BaseModel):
    """The settings with which workers are found and paid on Mechanical Turk."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    endpoint: str = Field(
        default="http://127.0.0.1:8100",
        pattern=r"^(live|sandbox|https?://[\w.:\[\]-]+/?)$",
        description="the marketplace's address; or live or sandbox for Amazon's, which are closed",
    )
    worker_site: str = Field(
        default="",
        pattern=r"^(https?://[\w.:\[\]-]+/?)?$",
        description=(
            "the address where workers of another marketplace submit; its own address when empty"
        ),
    )

    @field_validator("endpoint", "worker_site")
    @classmethod
    def _check_endpoint(cls, value: str) -> str:
        return checked_url(value)


LIVE, SANDBOX = "live", "sandbox"
API_URLS = {
    LIVE: "https://mturk-requester.us-east-1.amazonaws.com",
    SANDBOX: "https://mturk-requester-sandbox.us-east-1.amazonaws.com",
}
_WORKER_SITES = {
    LIVE: ("https://www.mturk.com", "https://worker.mturk.com"),
    SANDBOX: ("https://workersandbox.mturk.com",),
}
_REQUESTER_SITES = {
    LIVE: "https://requester.mturk.com/manage",
    SANDBOX: "https://requestersandbox.mturk.com/manage",
}
CLOSED_NOTICE = "Amazon closed Mechanical Turk for good on 30 September 2026"


def api_url(endpoint: str) -> str:
    """Return the API's address.

    Raises:
        WebappError: The endpoint is an unencrypted address of another machine.
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


def requester_site(endpoint: str) -> str:
    """Return the site on which a requester sees the HITs."""
    return _REQUESTER_SITES.get(endpoint, endpoint)


def worker_sites(settings: MturkSettings) -> tuple[str, ...]:
    """Return the sites from which the endpoint's workers come, and to which they submit."""
    if settings.endpoint in _WORKER_SITES:
        return _WORKER_SITES[settings.endpoint]
    site = (settings.worker_site or settings.endpoint).rstrip("/")
    if not is_loopback(site):
        return (site,)
    # A browser on this machine may use either name.
    parts = urlsplit(site)
    port = f":{parts.port}" if parts.port else ""
    return tuple(f"{parts.scheme}://{host}{port}" for host in ("127.0.0.1", "localhost"))


def framing_sites(settings: MturkSettings) -> tuple[str, ...]:
    """Return the workers' sites in the syntax of a content security policy."""
    if settings.endpoint in API_URLS:
        return ("https://*.mturk.com",)
    return worker_sites(settings)


def fee_cents(amount_cents: int, places: int, audience: Audience) -> int:
    """Return the fee on one payment, rounded up to a whole cent.

    Args:
        amount_cents: The reward or the bonus; 0 has no fee.
        places: The number of assignments with which the HIT was made.
        audience: The audience; a HIT for Masters costs more.
    """
    if amount_cents == 0:
        return 0
    surcharge = _MANY_PERCENT * (places > MOST_PLACES)
    percent = _FEE_PERCENT + surcharge + _MASTERS_PERCENT * audience.masters
    return max(_LEAST_FEE_CENTS, -(-amount_cents * percent // 100))
