"""Where a request comes from, and which names this server answers to.

A browser that was led here by another site must not change anything, no name but the server's own
may stand in an address that it hands out, and redirects name no host at all: behind a web server
that speaks TLS, an absolute one would lead from https back to http.
"""

from urllib.parse import urlsplit

from flask import Flask, Response, request

from webapp.core.settings import Settings
from webapp.errors import RequestError

_CHANGES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
# Health checks and the operator's own tools ask for these.
_ALWAYS = ("localhost", "127.0.0.1", "[::1]")


def guard_origins(app: Flask, settings: Settings) -> None:
    """Refuse other hosts and other sites' forms, and make every redirect relative.

    Args:
        app: The app.
        settings: The installation's: where ``public_url`` is given, its host, those of
            ``allowed_hosts`` and this machine's own names are answered to, and no other.
    """
    if settings.public_url:
        public = urlsplit(settings.public_url).hostname or ""
        named = settings.allowed_hosts.split()
        hosts = [public, *named, *_ALWAYS, settings.host]
        app.config["TRUSTED_HOSTS"] = list(dict.fromkeys(hosts))
    app.before_request(_refuse_other_sites)
    app.after_request(_lead_to_no_host)


def comes_from_another_site() -> bool:
    """Return whether the browser says that another site made it send the present request."""
    # Every present browser says so itself; the Origin of a page that tells no referrer is "null".
    said = request.headers.get("Sec-Fetch-Site")
    if said is not None:
        return said not in ("same-origin", "none")
    origin = request.headers.get("Origin", "null")
    return origin != "null" and urlsplit(origin).netloc != request.host


def _refuse_other_sites() -> None:
    if request.method in _CHANGES and comes_from_another_site():
        raise RequestError(
            "This was sent from another site, so nothing was done.", status=403, code="another_site"
        )


def _lead_to_no_host(response: Response) -> Response:
    if response.location is not None:
        response.location = response.location.removeprefix(request.host_url.rstrip("/")) or "/"
    return response
