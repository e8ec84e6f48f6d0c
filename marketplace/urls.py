"""Checks of addresses: whether they lead to this machine, and whether they are encrypted."""

from ipaddress import ip_address
from urllib.parse import urlsplit


def is_loopback(url: str) -> bool:
    """Return whether an address leads to this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_secure(url: str) -> bool:
    """Return whether traffic to an address is safe from third parties: https or this machine."""
    return urlsplit(url).scheme == "https" or is_loopback(url)
