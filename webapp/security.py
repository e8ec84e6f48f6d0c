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
        "form-action 'self'",
        "base-uri 'none'",
    )
)


def add_headers(app: Flask, frame_ancestors: str) -> None:
    """Make the app's pages load nothing from elsewhere and leave nothing behind.

    Args:
        app: The app.
        frame_ancestors: The sites that may show its pages in a frame, as a policy writes them.
    """
    policy = f"{_CONTENT_SECURITY_POLICY}; frame-ancestors 'self' {frame_ancestors}".rstrip()
    app.after_request(partial(_with_headers, policy))


def _with_headers(policy: str, response: Response) -> Response:
    response.headers["Content-Security-Policy"] = policy
    # Participants' tokens stand in the addresses, so no address may leave the site.
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Content-Type-Options"] = "nosniff"
    # Programs and styles say themselves how they may be kept; nothing else may be.
    response.headers.setdefault("Cache-Control", "no-store")
    return response
