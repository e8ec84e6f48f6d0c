"""The headers every response carries."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from flask import Flask, Response, current_app, g, request

from webapp.core.urls import is_loopback, is_researcher_path

_PUBLIC = "parallax_public"
_CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self' {script}",
        "style-src 'self'",
        # The pages' own empty icon is a data: address, which spares every participant a request.
        "img-src 'self' data:",
        # A study's own font lies in its page.
        "font-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
    )
)

# Nothing here needs a sensor or a purse, and no page that is framed may ask for one.
PERMISSIONS = ", ".join(
    f"{name}=()"
    for name in ("camera", "display-capture", "geolocation", "microphone", "payment", "usb")
)
_OF_PAGES = ("text/javascript", "application/javascript", "text/css")
_A_YEAR = "max-age=31536000"
# A page that was made elsewhere and brings its own styles, shown to a reader. The browser runs
# nothing in it, and treats it as of another site.
PAGE_OF_ITS_OWN = "; ".join(
    (
        "sandbox allow-popups",
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        "img-src data:",
        "font-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
# Only the replies to these are ever kept where nothing says so.
_KEPT = ("GET", "HEAD")


def add_headers(
    app: Flask, frame_ancestors: str, platforms: Iterable[str], script: str, public_url: str = ""
) -> None:
    """Make the app's pages load nothing from elsewhere and leave nothing behind.

    What programs get is shown nowhere and leads nowhere, so it goes without the headers of pages:
    every answer is acknowledged by it.

    Args:
        app: The app.
        frame_ancestors: The sites that may show its pages in a frame, as a policy writes them.
        platforms: The sites of all recruiting platforms: they may frame what belongs to no run.
        script: The only program that may stand in a page itself, by its hash.
        public_url: Where the app is reached; behind a public address no platform on this machine
            may frame anything, and one with https is never asked for by http again.
    """
    ancestors = tuple(frame_ancestors.split())
    fetched = _CONTENT_SECURITY_POLICY.format(script=script)
    public = bool(public_url) and not is_loopback(public_url)
    app.extensions[_PUBLIC] = public
    sites = tuple(_reachable(platforms, public=public))
    secure = public_url.startswith("https:") and not is_loopback(public_url)
    always = {
        **({"Strict-Transport-Security": _A_YEAR} if secure else {}),
        "X-Content-Type-Options": "nosniff",
    }
    app.after_request(partial(_with_headers, fetched, ancestors, sites, always))


def open_to(sites: Iterable[str]) -> None:
    """Let these sites, of the run's own platform and no other, frame the present response.

    Finished participants are sent there too.
    """
    g.platform_sites = tuple(_reachable(sites, public=current_app.extensions[_PUBLIC]))


def _reachable(sites: Iterable[str], *, public: bool) -> Iterator[str]:
    """Yield the sites that may be met: a stand-in on this machine only where the app is too."""
    return (site for site in sites if not (public and is_loopback(site)))


def _policy(fetched: str, ancestors: tuple[str, ...], platforms: tuple[str, ...]) -> str:
    own: str | None = g.get("own_policy")
    if own is not None:
        return own
    # The researchers' pages, which nobody may frame: a click there may pay.
    if is_researcher_path(request.path):
        return f"{fetched}; form-action 'self'; frame-ancestors 'none'"
    sites = g.get("platform_sites")
    framing = dict.fromkeys(("'self'", *ancestors, *(platforms if sites is None else sites)))
    sent = dict.fromkeys(("'self'", *(sites or ())))
    return f"{fetched}; form-action {' '.join(sent)}; frame-ancestors {' '.join(framing)}"


def _with_headers(
    fetched: str,
    ancestors: tuple[str, ...],
    platforms: tuple[str, ...],
    always: Mapping[str, str],
    response: Response,
) -> Response:
    response.headers.extend(always)
    if not response.is_json:
        # A page's programs and style obey the page's own policy, and there are twenty of them.
        if response.mimetype not in _OF_PAGES:
            response.headers["Content-Security-Policy"] = _policy(fetched, ancestors, platforms)
        # Participants' tokens stand in the addresses, so no address may leave the site.
        response.headers["Referrer-Policy"] = "no-referrer"
    if response.mimetype == "text/html":
        # What is a page alone has a use for it.
        response.headers["Permissions-Policy"] = PERMISSIONS
    if request.method in _KEPT:
        # Programs and styles say themselves how they may be kept; nothing else may be.
        response.headers.setdefault("Cache-Control", "no-store")
    return response
