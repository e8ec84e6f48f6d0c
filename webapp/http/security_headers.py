"""The security headers of every response."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from flask import Flask, Response, current_app, g, request

from webapp.core.addresses import is_loopback, is_researcher_path

_PUBLIC_FLAG = "parallax_public"
_CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self' {script}",
        "style-src 'self'",
        # The pages' empty icon is a data: URL, which saves every participant a request.
        "img-src 'self' data:",
        # A study's own font is embedded in its page.
        "font-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
    )
)

# No page needs sensors or payment features, and framed pages may not request them.
PERMISSIONS_POLICY = ", ".join(
    f"{name}=()"
    for name in ("camera", "display-capture", "geolocation", "microphone", "payment", "usb")
)
_SCRIPT_AND_STYLE_TYPES = ("text/javascript", "application/javascript", "text/css")
_HSTS = "max-age=31536000"
# The policy for a page that was made elsewhere and has its own styles. The browser runs no scripts
# in it, and treats it as a page of another site.
SANDBOXED_PAGE_POLICY = "; ".join(
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
# Browsers cache only responses to these methods unless told otherwise.
_CACHEABLE_METHODS = ("GET", "HEAD")


def add_headers(
    app: Flask, frame_ancestors: str, platforms: Iterable[str], script: str, public_url: str = ""
) -> None:
    """Keep the app's pages from loading foreign content, leaking URLs and being cached.

    Responses to programs (such as acknowledgements of answers) are never displayed, so they omit
    the page headers.

    Args:
        app: The app.
        frame_ancestors: The sites that may frame its pages, in policy syntax.
        platforms: The sites of all recruiting platforms: they may frame pages of no run.
        script: The hash of the only inline script that pages may contain.
        public_url: The app's public URL. With a public URL, no platform on this machine may frame
            pages, and with https, browsers never use http again.
    """
    ancestors = tuple(frame_ancestors.split())
    base_policy = _CONTENT_SECURITY_POLICY.format(script=script)
    public = bool(public_url) and not is_loopback(public_url)
    app.extensions[_PUBLIC_FLAG] = public
    sites = tuple(_reachable_sites(platforms, public=public))
    secure = public_url.startswith("https:") and not is_loopback(public_url)
    common_headers = {
        **({"Strict-Transport-Security": _HSTS} if secure else {}),
        "X-Content-Type-Options": "nosniff",
    }
    app.after_request(partial(_add_page_headers, base_policy, ancestors, sites, common_headers))


def allow_framing_by(sites: Iterable[str]) -> None:
    """Allow these sites, the current run's own platform, to frame the current response.

    Finished participants are also sent to these sites.
    """
    g.platform_sites = tuple(_reachable_sites(sites, public=current_app.extensions[_PUBLIC_FLAG]))


def _reachable_sites(sites: Iterable[str], *, public: bool) -> Iterator[str]:
    """Yield the reachable sites: sites on this machine only if the app is on this machine, too."""
    return (site for site in sites if not (public and is_loopback(site)))


def _build_policy(base_policy: str, ancestors: tuple[str, ...], platforms: tuple[str, ...]) -> str:
    own_policy: str | None = g.get("own_policy")
    if own_policy is not None:
        return own_policy
    # Researcher pages must not be framed, because a click there may trigger a payment.
    if is_researcher_path(request.path):
        return f"{base_policy}; form-action 'self'; frame-ancestors 'none'"
    sites = g.get("platform_sites")
    framing_sites = dict.fromkeys(("'self'", *ancestors, *(platforms if sites is None else sites)))
    form_targets = dict.fromkeys(("'self'", *(sites or ())))
    return (
        f"{base_policy}; form-action {' '.join(form_targets)};"
        f" frame-ancestors {' '.join(framing_sites)}"
    )


def _add_page_headers(
    base_policy: str,
    ancestors: tuple[str, ...],
    platforms: tuple[str, ...],
    common_headers: Mapping[str, str],
    response: Response,
) -> Response:
    response.headers.extend(common_headers)
    if not response.is_json:
        # Scripts and styles are governed by the page's policy, and there are about twenty of them.
        if response.mimetype not in _SCRIPT_AND_STYLE_TYPES:
            response.headers["Content-Security-Policy"] = _build_policy(
                base_policy, ancestors, platforms
            )
        # URLs contain participants' tokens, so they must not leave the site as referrers.
        response.headers["Referrer-Policy"] = "no-referrer"
    if response.mimetype == "text/html":
        # Only pages need this header.
        response.headers["Permissions-Policy"] = PERMISSIONS_POLICY
    if request.method in _CACHEABLE_METHODS:
        # Scripts and styles set their own caching; all other responses must not be cached.
        response.headers.setdefault("Cache-Control", "no-store")
    return response
