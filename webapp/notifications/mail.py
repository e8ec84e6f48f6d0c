"""Sending mail through the server that the settings name."""

import smtplib
import ssl
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import formatdate, make_msgid

from webapp.core.settings import Settings
from webapp.notifications.outside import NotTold

_PATIENCE_S = 15.0
_LONGEST = 254


def checked_mail(address: str) -> str:
    """Return a mail address.

    Raises:
        NotTold: It is none.
    """
    try:
        found = Address(addr_spec=address)
    except (ValueError, IndexError, MessageError) as error:
        raise NotTold(f'"{address[:60]}" is no mail address') from error
    good = found.username and "." in found.domain and address.isascii() and address.isprintable()
    if not good or len(address) > _LONGEST or any(sign in address for sign in ' ,;<>"'):
        raise NotTold(f'"{address[:60]}" is no mail address', expected="name@example.org")
    return address


def send_mail(settings: Settings, to: str, subject: str, text: str) -> None:
    """Send a mail.

    Args:
        settings: They name the server.
        to: The address.
        subject: One line.
        text: The mail.

    Raises:
        NotTold: No server is named, or it did not take the mail.
    """
    if not settings.smtp_host:
        raise NotTold(
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
        with _connected(settings) as server:
            if settings.smtp_user:
                server.login(settings.smtp_user, settings.smtp_password.get_secret_value())
            server.send_message(message)
    except (smtplib.SMTPException, OSError) as error:
        raise NotTold(
            f"{settings.smtp_host} did not take the mail: {_why(error)}",
            remedy="Check smtp_host, smtp_port, smtp_security, smtp_user and smtp_password, and"
            " the address",
        ) from error


def _why(error: OSError) -> str:
    """Return what a server, or the way to it, said, in its own words."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return _one_line(*next(iter(error.recipients.values())))
    if isinstance(error, smtplib.SMTPResponseException):
        return _one_line(error.smtp_code, error.smtp_error)
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message})"
    return error.strerror or str(error) or "it took too long"


def _one_line(status: int, said: bytes | str) -> str:
    """Return a server's reply; its status tells what may pass from what will not."""
    text = said.decode(errors="replace") if isinstance(said, bytes) else said
    return " ".join([str(status), *text.split()])


def _connected(settings: Settings) -> smtplib.SMTP:
    host, port = settings.smtp_host, settings.smtp_port
    secure = ssl.create_default_context()
    if settings.smtp_security == "tls":
        return smtplib.SMTP_SSL(host, port, timeout=_PATIENCE_S, context=secure)
    server = smtplib.SMTP(host, port, timeout=_PATIENCE_S)
    if settings.smtp_security == "starttls":
        server.starttls(context=secure)
    return server
