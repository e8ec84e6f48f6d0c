"""The headers every response carries."""

from collections.abc import Iterable
from functools import partial

from flask import Flask, Response, g, request

_CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self' {script}",
        "style-src 'self'",
        # The pages' own empty icon is a data: address, which spares every participant a request.
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
    )
)

# Only the replies to these are ever kept where nothing says so.
_KEPT = ("GET", "HEAD")


def add_headers(app: Flask, frame_ancestors: str, platforms: Iterable[str], script: str) -> None:
    """Make the app's pages load nothing from elsewhere and leave nothing behind.

    What programs get is shown nowhere and leads nowhere, so it goes without the headers of pages:
    every answer is acknowledged by it.

    Args:
        app: The app.
        frame_ancestors: The sites that may show its pages in a frame, as a policy writes them.
        platforms: The sites of all recruiting platforms: they may frame what belongs to no run.
        script: The only program that may stand in a page itself, by its hash.
    """
    ancestors = tuple(frame_ancestors.split())
    fetched = _CONTENT_SECURITY_POLICY.format(script=script)
    app.after_request(partial(_with_headers, fetched, ancestors, tuple(platforms)))


def open_to(sites: Iterable[str]) -> None:
    """Let these sites, of the run's own platform and no other, frame the present response.

    Finished participants are sent there too.
    """
    g.platform_sites = tuple(sites)


def _policy(fetched: str, ancestors: tuple[str, ...], platforms: tuple[str, ...]) -> str:
    sites = g.get("platform_sites")
    framing = dict.fromkeys(("'self'", *ancestors, *(platforms if sites is None else sites)))
    sent = dict.fromkeys(("'self'", *(sites or ())))
    return f"{fetched}; form-action {' '.join(sent)}; frame-ancestors {' '.join(framing)}"


def _with_headers(
    fetched: str, ancestors: tuple[str, ...], platforms: tuple[str, ...], response: Response
) -> Response:
    response.headers["X-Content-Type-Options"] = "nosniff"
    if not response.is_json:
        response.headers["Content-Security-Policy"] = _policy(fetched, ancestors, platforms)
        # Participants' tokens stand in the addresses, so no address may leave the site.
        response.headers["Referrer-Policy"] = "no-referrer"
    if request.method in _KEPT:
        # Programs and styles say themselves how they may be kept; nothing else may be.
        response.headers.setdefault("Cache-Control", "no-store")
    return response
