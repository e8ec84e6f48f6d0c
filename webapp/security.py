"""The headers every response carries."""

from functools import partial

from flask import Flask, Response, request

_CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        # The pages' own empty icon is a data: address, which spares every participant a request.
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
    )
)

# Only the replies to these are ever kept where nothing says so.
_KEPT = ("GET", "HEAD")


def add_headers(app: Flask, frame_ancestors: str, platforms: str) -> None:
    """Make the app's pages load nothing from elsewhere and leave nothing behind.

    What programs get is shown nowhere and leads nowhere, so it goes without the headers of pages:
    every answer is acknowledged by it.

    Args:
        app: The app.
        frame_ancestors: The sites that may show its pages in a frame, as a policy writes them.
        platforms: The sites of the recruiting platform in use: they may too, and finished
            participants' work is handed in to them.
    """
    ancestors = " ".join(dict.fromkeys(f"{frame_ancestors} {platforms}".split()))
    policy = (
        f"{_CONTENT_SECURITY_POLICY}; form-action 'self' {platforms}"
        f"; frame-ancestors 'self' {ancestors}"
    )
    app.after_request(partial(_with_headers, policy))


def _with_headers(policy: str, response: Response) -> Response:
    response.headers["X-Content-Type-Options"] = "nosniff"
    if not response.is_json:
        response.headers["Content-Security-Policy"] = policy
        # Participants' tokens stand in the addresses, so no address may leave the site.
        response.headers["Referrer-Policy"] = "no-referrer"
    if request.method in _KEPT:
        # Programs and styles say themselves how they may be kept; nothing else may be.
        response.headers.setdefault("Cache-Control", "no-store")
    return response
