"""The headers every response carries."""

from functools import partial

from flask import Flask, Response

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

# What programs get is shown nowhere, and each answer's reply should be short.
_POLICY_OF_DATA = "default-src 'none'; frame-ancestors 'none'"


def add_headers(app: Flask, frame_ancestors: str, platforms: str) -> None:
    """Make the app's pages load nothing from elsewhere and leave nothing behind.

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
    response.headers["Content-Security-Policy"] = _POLICY_OF_DATA if response.is_json else policy
    # Participants' tokens stand in the addresses, so no address may leave the site.
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Content-Type-Options"] = "nosniff"
    # Programs and styles say themselves how they may be kept; nothing else may be.
    response.headers.setdefault("Cache-Control", "no-store")
    return response
