"""Sending notices by webhook and mail, and never into the server's own network.

A name is resolved once, and all its addresses must be public. The connection goes to exactly one of
these addresses, without resolving the name again. The certificate must match the name. Redirects
are not followed.
"""

import re
import smtplib
import ssl
from collections.abc import Callable, Iterable, Mapping
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from socket import IPPROTO_TCP, getaddrinfo
from urllib.parse import urlsplit

import httpx

from webapp.core.settings import Settings
from webapp.errors import WebappError

_TIMEOUT_S = 10.0
_HTTPS_PORT = 443
# These networks embed an IPv4 address, which may be internal.
_EMBEDDING_IPV4 = tuple(
    map(ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16"))
)
# The URL standard reads such a host as an IPv4 address, also in octal, hexadecimal or short form.
_ENDS_IN_NUMBER = re.compile(r"(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)\.?$", re.ASCII | re.IGNORECASE)
Resolve = Callable[[str, int], Iterable[str]]


class DeliveryError(WebappError):
    """A notice was not delivered."""


def is_public_address(address: str) -> bool:
    """Return whether an IP address is a public one."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped is not None:
            return _is_public(ip.ipv4_mapped)
        if ip.is_site_local or any(ip in network for network in _EMBEDDING_IPV4):
            return False
    return _is_public(ip)


def _is_public(ip: IPv4Address | IPv6Address) -> bool:
    is_special = ip.is_multicast or ip.is_reserved or ip.is_unspecified or ip.is_loopback
    return ip.is_global and not ip.is_private and not is_special


def resolve_host(host: str, port: int) -> list[str]:
    """Return every IP address of a host."""
    return [str(entry[4][0]) for entry in getaddrinfo(host, port, proto=IPPROTO_TCP)]


def check_url(url: str) -> str:
    """Return a webhook's address if its syntax is acceptable.

    Raises:
        DeliveryError: It is not acceptable.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise DeliveryError(f"this is not an address: {error}", remedy="Copy it again") from error
    if parts.scheme != "https" or not host or port == 0:
        raise DeliveryError("the address must begin with https:// and name a host")
    if parts.username is not None or parts.fragment or not url.isascii() or not url.isprintable():
        raise DeliveryError("the address must not contain a user name with @, a # or spaces")
    is_number = ":" in host or _ENDS_IN_NUMBER.search(host) is not None
    if host == "localhost" or ("." not in host.strip(".") and not is_number):
        raise _make_local_address_error(host)
    if is_number and not is_public_address(host):
        raise _make_local_address_error(host)
    return url


def send_webhook(
    url: str,
    body: Mapping[str, str],
    *,
    resolve: Resolve = resolve_host,
    secure: ssl.SSLContext | None = None,
) -> None:
    """Send a JSON object by POST.

    Args:
        url: The destination.
        body: The object.
        resolve: Returns the IP addresses of a host.
        secure: The TLS context; None for the usual certificate authorities.

    Raises:
        DeliveryError: The address is in the local network, there is no answer, or the answer is not
            a success.
    """
    host, address = _resolve_public_address(url, resolve)
    _post(url, host, address, body, secure or httpx.create_ssl_context())


def check_webhook(url: str) -> str:
    """Return a webhook's address if it can be used now; it is checked again whenever it is used.

    Raises:
        DeliveryError: Its syntax is wrong, its name cannot be found, or it is not public.
    """
    _resolve_public_address(url, resolve_host)
    return url


def _resolve_public_address(url: str, resolve: Resolve) -> tuple[str, str]:
    """Return a webhook's host, and the first of its IP addresses, all of which are public."""
    parts = urlsplit(check_url(url))
    host, port = str(parts.hostname), parts.port or _HTTPS_PORT
    try:
        addresses = list(resolve(host, port))
    except (OSError, UnicodeError) as error:
        # A name with an empty part, or with a part of 64 letters, cannot be resolved.
        reason = getattr(error, "strerror", None) or "it is not the name of a host"
        raise DeliveryError(f"the name {host} cannot be found: {reason}") from error
    if not addresses or not all(map(is_public_address, addresses)):
        raise _make_local_address_error(host)
    return host, addresses[0]


def _post(
    url: str, host: str, address: str, body: Mapping[str, str], secure: ssl.SSLContext
) -> None:
    target = httpx.URL(url).copy_with(host=address)
    headers = {"Host": urlsplit(url).netloc, "User-Agent": "Parallax"}
    try:
        with (
            httpx.Client(verify=secure, timeout=_TIMEOUT_S, trust_env=False) as client,
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
        raise DeliveryError(f"{host} gave no answer: {str(error) or 'it took too long'}") from error
    if is_redirect:
        raise DeliveryError(
            f"{host} redirects to another address, which is not followed",
            remedy="Give the address to which it redirects",
        )
    if not 200 <= status < 300:
        raise DeliveryError(f"{host} answered with the status {status}")


def _make_local_address_error(host: str) -> DeliveryError:
    return DeliveryError(
        f"{host} has an address that is not public",
        expected="a host that everybody can reach",
    )


_MAIL_TIMEOUT_S = 15.0
_LONGEST_ADDRESS = 254


def check_mail_address(address: str) -> str:
    """Return a valid mail address.

    Raises:
        DeliveryError: It is not valid.
    """
    try:
        parsed = Address(addr_spec=address)
    except (ValueError, IndexError, MessageError) as error:
        raise DeliveryError(f'"{address[:60]}" is not a mail address') from error
    good = parsed.username and "." in parsed.domain and address.isascii() and address.isprintable()
    if not good or len(address) > _LONGEST_ADDRESS or any(sign in address for sign in ' ,;<>"'):
        raise DeliveryError(f'"{address[:60]}" is not a mail address', expected="name@example.org")
    return address


def send_mail(settings: Settings, to: str, subject: str, text: str) -> None:
    """Send a mail.

    Args:
        settings: The settings, which name the mail server.
        to: The address.
        subject: One line.
        text: The mail.

    Raises:
        DeliveryError: No server is configured, or it refused the mail.
    """
    if not settings.smtp_host:
        raise DeliveryError(
            "no mail server is named", remedy="Set smtp_host in the installation's settings"
        )
    message = EmailMessage()
    message["From"] = settings.smtp_from
    message["To"] = to
    message["Subject"] = " ".join(subject.split())
    message["Date"] = formatdate()
    message["Message-ID"] = make_msgid(domain=settings.smtp_from.rpartition("@")[2])
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(text)
    try:
        with _connect_mail_server(settings) as server:
            if settings.smtp_user:
                server.login(settings.smtp_user, settings.smtp_password.get_secret_value())
            server.send_message(message)
    except (smtplib.SMTPException, OSError) as error:
        raise DeliveryError(
            f"{settings.smtp_host} did not accept the mail: {_describe_mail_error(error)}",
            remedy="Check smtp_host, smtp_port, smtp_security, smtp_user and smtp_password, and"
            " the address",
        ) from error


def _describe_mail_error(error: OSError) -> str:
    """Return why a mail was not sent, in the words of the server or the network."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return _format_reply(*next(iter(error.recipients.values())))
    if isinstance(error, smtplib.SMTPResponseException):
        return _format_reply(error.smtp_code, error.smtp_error)
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message})"
    return error.strerror or str(error) or "it took too long"


def _format_reply(status: int, reply: bytes | str) -> str:
    """Return a server's reply with its status, which shows whether a retry may help."""
    text = reply.decode(errors="replace") if isinstance(reply, bytes) else reply
    return " ".join([str(status), *text.split()])


def _connect_mail_server(settings: Settings) -> smtplib.SMTP:
    host, port = settings.smtp_host, settings.smtp_port
    secure = ssl.create_default_context()
    if settings.smtp_security == "tls":
        return smtplib.SMTP_SSL(host, port, timeout=_MAIL_TIMEOUT_S, context=secure)
    server = smtplib.SMTP(host, port, timeout=_MAIL_TIMEOUT_S)
    if settings.smtp_security == "starttls":
        server.starttls(context=secure)
    return server
