"""Classify URLs: on this machine, encrypted, or a researcher page."""

from ipaddress import ip_address
from urllib.parse import urlsplit

RESEARCHER_PATH = "/researcher"


def is_loopback(url: str) -> bool:
    """Return whether a URL points to this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_secure(url: str) -> bool:
    """Return whether nobody on the network can read or change data sent to a URL."""
    return urlsplit(url).scheme == "https" or is_loopback(url)


def is_researcher_path(path: str) -> bool:
    """Return whether a request's path is that of a researcher page."""
    return path == RESEARCHER_PATH or path.startswith(f"{RESEARCHER_PATH}/")
