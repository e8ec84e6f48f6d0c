"""How many days the certificate of the public address is still good."""

import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from urllib.parse import urlsplit

from webapp.doctor.findings import Finding, Installation, Level

_PATIENCE_S = 10.0
_HTTPS = 443
# Who renews by themselves do so 30 days before the end; by then it has failed for weeks.
_WARN_DAYS, _FAULT_DAYS = 14, 3


def certificate(at: Installation) -> Iterator[Finding]:
    """Ask the public address for its certificate, as a browser does."""
    address = urlsplit(at.settings.public_url)
    if address.scheme != "https" or not address.hostname:
        yield Finding("certificate", Level.GOOD, "not checked: public_url has none")
        return
    trusted = ssl.create_default_context()
    try:
        ends = _ends(trusted, address.hostname, address.port or _HTTPS)
    except ssl.SSLCertVerificationError as error:
        say = f"browsers refuse the certificate of {address.hostname}: {error.verify_message}"
        remedy = "Renew it: certbot renew, or see the log of the web server in front"
        yield Finding("certificate", Level.FAULT, say, remedy)
        return
    except (OSError, ValueError) as error:
        yield Finding("certificate", Level.WARNING, f"it could not be read ({error})", "See `web`")
        return
    days = (ends - at.now()).total_seconds() / 86_400
    say = f"the certificate of {address.hostname} is good for {days:.0f} days"
    remedy = "Renew it, and find out why that did not happen by itself: certbot renew --dry-run"
    if days < _WARN_DAYS:
        level = Level.FAULT if days < _FAULT_DAYS else Level.WARNING
        yield Finding("certificate", level, say, remedy)
    else:
        yield Finding("certificate", Level.GOOD, say)


def _ends(trusted: ssl.SSLContext, host: str, port: int) -> datetime:
    with (
        socket.create_connection((host, port), timeout=_PATIENCE_S) as plain,
        trusted.wrap_socket(plain, server_hostname=host) as secured,
    ):
        # What was trusted says its end: there is no certificate without one.
        found = secured.getpeercert() or {}
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(str(found["notAfter"])), UTC)
