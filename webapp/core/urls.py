"""Which addresses lead to this machine or to researcher pages, and which are encrypted."""

from ipaddress import ip_address
from urllib.parse import urlsplit

RESEARCHER_PATH = "/researcher"


def is_loopback(url: str) -> bool:
    """Return whether an address is this machine's own."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_secure(url: str) -> bool:
    """Return whether nobody on the way can read or change what goes to an address."""
    return urlsplit(url).scheme == "https" or is_loopback(url)


def is_researcher_path(path: str) -> bool:
    """Return whether a request's path leads to researcher pages."""
    return path == RESEARCHER_PATH or path.startswith(f"{RESEARCHER_PATH}/")
