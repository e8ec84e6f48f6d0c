"""Sending to an address that somebody typed, and never into the network that the server stands in.

A name is resolved once, every address that it has must be a public one, and the connection goes to
one of exactly these: whatever the name stands for a moment later is not asked. The certificate must
be the name's. Redirects are not followed.
"""

import ssl
from collections.abc import Callable, Iterable, Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from socket import IPPROTO_TCP, getaddrinfo
from urllib.parse import urlsplit

import httpx

from webapp.errors import WebappError

_PATIENCE_S = 10.0
_PORT = 443
# They carry an address of another kind within them, which may be an inner one.
_CARRIERS = tuple(map(ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16")))
Resolve = Callable[[str, int], Iterable[str]]


class NotTold(WebappError):
    """What was to be told did not arrive."""


def is_outside(address: str) -> bool:
    """Return whether an IP address is one of the public network, and nothing else."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is not None:
            return _is_public(found.ipv4_mapped)
        if found.is_site_local or any(found in each for each in _CARRIERS):
            return False
    return _is_public(found)


def _is_public(found: IPv4Address | IPv6Address) -> bool:
    odd = found.is_multicast or found.is_reserved or found.is_unspecified or found.is_loopback
    return found.is_global and not found.is_private and not odd


def resolved(host: str, port: int) -> list[str]:
    """Return every IP address of a host."""
    return [str(each[4][0]) for each in getaddrinfo(host, port, proto=IPPROTO_TCP)]


def checked_url(url: str) -> str:
    """Return an address to which something may be sent, as far as its text tells.

    Raises:
        NotTold: It is no address of that kind.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise NotTold(f"this is no address: {error}", remedy="Copy it again") from error
    if parts.scheme != "https" or not host or port == 0:
        raise NotTold("the address must begin with https:// and name a host")
    if parts.username is not None or parts.fragment or not url.isascii() or not url.isprintable():
        raise NotTold("the address must hold no name before an @, no # and no spaces")
    is_number = ":" in host or host.replace(".", "").isdigit()
    if host == "localhost" or ("." not in host.strip(".") and not is_number):
        raise _inside(host)
    if is_number and not is_outside(host):
        raise _inside(host)
    return url


def send_outside(
    url: str,
    body: Mapping[str, str],
    *,
    resolve: Resolve = resolved,
    secure: ssl.SSLContext | None = None,
) -> None:
    """Send a JSON object by POST.

    Args:
        url: Where to.
        body: The object.
        resolve: Returns the IP addresses of a host.
        secure: Whose certificates are trusted; None for those of the usual authorities.

    Raises:
        NotTold: It leads into the network here, nobody answers, or the answer is no success.
    """
    parts = urlsplit(checked_url(url))
    host, port = str(parts.hostname), parts.port or _PORT
    try:
        addresses = list(resolve(host, port))
    except (OSError, UnicodeError) as error:
        # Nobody can be asked for a name with an empty part, or with one of 64 letters.
        why = getattr(error, "strerror", None) or "it is no name of a host"
        raise NotTold(f"the name {host} cannot be found: {why}") from error
    if not addresses or not all(map(is_outside, addresses)):
        raise _inside(host)
    _post(url, host, addresses[0], body, secure or httpx.create_ssl_context())


def _post(
    url: str, host: str, address: str, body: Mapping[str, str], secure: ssl.SSLContext
) -> None:
    target = httpx.URL(url).copy_with(host=address)
    headers = {"Host": urlsplit(url).netloc, "User-Agent": "Parallax"}
    try:
        with (
            httpx.Client(verify=secure, timeout=_PATIENCE_S, trust_env=False) as client,
            client.stream(
                "POST",
                target,
                json=dict(body),
                headers=headers,
                follow_redirects=False,
                extensions={"sni_hostname": host},
            ) as answer,
        ):
            status, is_redirect = answer.status_code, answer.is_redirect
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise NotTold(f"{host} gave no answer: {str(error) or 'it took too long'}") from error
    if is_redirect:
        raise NotTold(
            f"{host} leads elsewhere, which is not followed",
            remedy="Give the address to which it leads",
        )
    if not 200 <= status < 300:
        raise NotTold(f"{host} answered with the status {status}")


def _inside(host: str) -> NotTold:
    return NotTold(
        f"{host} stands for an address that is not public",
        expected="a host that everybody can reach",
    )
