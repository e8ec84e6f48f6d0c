"""The headers every response carries."""

from flask import Flask, Response

_CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        # The pages' own empty icon is a data: address, which spares every participant a request.
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'self'",
    )
)


def add_headers(app: Flask) -> None:
    """Make the app's pages load nothing from elsewhere and leave nothing behind."""
    app.after_request(_with_headers)


def _with_headers(response: Response) -> Response:
    response.headers["Content-Security-Policy"] = _CONTENT_SECURITY_POLICY
    # Participants' tokens stand in the addresses, so no address may leave the site.
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Content-Type-Options"] = "nosniff"
    # Programs and styles say themselves how they may be kept; nothing else may be.
    response.headers.setdefault("Cache-Control", "no-store")
    return response
