"""Addresses: the client of a request, also behind a reverse proxy, and the host of a URL.

Client addresses are neither stored in plain text nor logged: only a digest under the installation's
key (``Tokens.digest``) is kept, for an hour.
"""

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

_FORWARDED_HEADER = "HTTP_X_FORWARDED_FOR"
# Providers give each customer an IPv6 network, identified by this many leading bits.
_CUSTOMER_PREFIX_BITS = 48
RESEARCHER_PATH, CODER_PATH = "/researcher", "/coding"
_Address = IPv4Address | IPv6Address


class AddressResolver:
    """Determines the address of a request.

    Args:
        trusted: The addresses or networks of trusted reverse proxies. Address headers from any
            other client are ignored.

    Raises:
        ValueError: One of them is neither an address nor a network.
    """

    def __init__(self, trusted: Iterable[str]) -> None:
        self._trusted = [ip_network(entry) for entry in trusted]

    def client_address(self, environ: Mapping[str, object]) -> str:
        """Return the client address of a request; for IPv6, its network.

        It is empty if the reverse proxy does not report it, and for requests from this machine
        itself.
        """
        for address in self._forwarding_chain(environ):
            if address is None:
                return ""
            if not self._is_trusted(address):
                return _identify_customer(address)
        return ""

    def is_from_proxy(self, environ: Mapping[str, object]) -> bool:
        """Return whether the request comes from a trusted reverse proxy."""
        sender = _parse_address(str(environ.get("REMOTE_ADDR") or ""))
        return sender is not None and self._is_trusted(sender)

    def _forwarding_chain(self, environ: Mapping[str, object]) -> Iterator[_Address | None]:
        """Yield the addresses that forwarded the request, nearest first; None for invalid ones."""
        yield _parse_address(str(environ.get("REMOTE_ADDR") or ""))
        forwarded = str(environ.get(_FORWARDED_HEADER) or "")
        for entry in reversed(forwarded.split(",") if forwarded.strip() else []):
            yield _parse_address(entry)

    def _is_trusted(self, address: _Address) -> bool:
        return any(address in network for network in self._trusted)


def _parse_address(text: str) -> _Address | None:
    text = text.strip()
    if text.startswith("["):  # with a port, as some web servers write it
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    mapped_address = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped_address or address


def _identify_customer(address: _Address) -> str:
    if isinstance(address, IPv4Address):
        return str(address)
    return str(IPv6Network((address, _CUSTOMER_PREFIX_BITS), strict=False))


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


def needs_researcher_process(path: str) -> bool:
    """Return whether a request's path is that of a page for researchers or coders."""
    return is_researcher_path(path) or path.startswith(f"{CODER_PATH}/")
