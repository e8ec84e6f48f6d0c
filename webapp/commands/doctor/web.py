"""Checks that send requests to the server, as a load balancer, a stranger or a participant does."""

import re
import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from urllib.parse import urlsplit

import httpx

from webapp.commands.doctor.findings import Finding, Installation, Level
from webapp.http.health import HEALTHZ_PATH, IGNORED_HEADER

_TIMEOUT_S = 20.0
# As large as a questionnaire may be; web servers in front have limits of their own.
_LARGE_BODY = b"x" * (200 * 1024)
_TOO_LARGE_STATUS = 413
_LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
# A reserved name (RFC 2606), and the status with which the server must refuse it.
_NOBODY, _REFUSED = "doctor.invalid", 400
_HANDSHAKE_TIMEOUT_S = 10.0
_HTTPS_PORT = 443
# Automatic renewal happens 30 days before the end, so below these limits it has failed for weeks.
_WARN_DAYS, _FAULT_DAYS = 14, 3


def check_ready(at: Installation) -> Iterator[Finding]:
    """Ask the server at its private port whether it is ready for participants."""
    if not at.settings.metrics_port:
        yield Finding("ready", Level.GOOD, "not checked: no private port is set (metrics_port)")
        return
    base = _reachable_address(at.settings.metrics_host, at.settings.metrics_port)
    try:
        readiness = httpx.get(f"{base}/readyz", timeout=_TIMEOUT_S, trust_env=False).json()
    except (httpx.HTTPError, ValueError) as error:
        message = f"no server answers at {base}/readyz ({type(error).__name__})"
        yield Finding(
            "ready", Level.WARNING, message, "Check that the server is running with these settings"
        )
        return
    for problem in readiness["problems"]:
        yield Finding("ready", Level.FAULT, problem, "docs/serving.md#several-machines")
    if not readiness["problems"]:
        yield Finding("ready", Level.GOOD, f"{base}/readyz says so")


def check_hosts(at: Installation) -> Iterator[Finding]:
    """Send a request with a foreign host name, which the server must refuse."""
    if not at.settings.public_url:
        level = Level.GOOD if at.settings.host in _LOCAL_HOSTS else Level.WARNING
        message = "public_url is not set, so requests for any host name are answered"
        yield Finding("hosts", level, message, "" if level is Level.GOOD else "Set public_url")
        return
    base = _reachable_address(at.settings.host, at.settings.port)
    try:
        response = httpx.get(
            base + HEALTHZ_PATH, headers={"Host": _NOBODY}, timeout=_TIMEOUT_S, trust_env=False
        )
    except httpx.HTTPError:
        yield Finding("hosts", Level.GOOD, f"not checked: no server answers at {base}")
        return
    names = " ".join([urlsplit(at.settings.public_url).hostname or "", at.settings.allowed_hosts])
    if response.status_code == _REFUSED:
        message = f"it answers to {names.strip()} and to this machine's own names, and to no other"
        yield Finding("hosts", Level.GOOD, message)
    else:
        message = f"the server at {base} answers to another name than {names.strip()}"
        remedy = "Start it again with these settings; check that no other program has this port"
        yield Finding("hosts", Level.FAULT, message, remedy)


def _reachable_address(host: str, port: int) -> str:
    local_addresses = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return (
        f"http://[{local_addresses}]:{port}"
        if ":" in local_addresses
        else f"http://{local_addresses}:{port}"
    )


def check_public_address(at: Installation) -> Iterator[Finding]:
    """Send a request to the public address, through the web server in front, like a participant."""
    base = at.settings.public_url.rstrip("/")
    if not base:
        level = Level.GOOD if at.settings.host in _LOCAL_HOSTS else Level.WARNING
        message = "public_url is not set, so links lead to this machine"
        yield Finding("web", level, message, "" if level is Level.GOOD else "Set public_url")
        return
    try:
        yield from _check_pages(base)
    except httpx.HTTPError as error:
        yield _report_no_answer(base, error)


def _report_no_answer(base: str, error: httpx.HTTPError) -> Finding:
    distrust = re.search(r"certificate verify failed: ([^(]*)", str(error))
    if distrust:
        message = f"the certificate of {base} is not trusted: {distrust[1].strip()}"
        remedy = (
            "Check the certificate, and that the web server sends those between it and its "
            "authority. For an authority of your institution, name its file in SSL_CERT_FILE"
        )
    else:
        message = f"{base} does not answer ({type(error).__name__}: {error})"
        remedy = "Check the name, the reverse proxy and the server"
    return Finding("web", Level.FAULT, message, remedy)


def _check_pages(base: str) -> Iterator[Finding]:
    trusted = httpx.create_ssl_context(trust_env=False)
    # The system's certificate authorities, and those of SSL_CERT_FILE.
    trusted.load_default_certs()
    with httpx.Client(timeout=_TIMEOUT_S, trust_env=False, verify=trusted) as client:
        response = client.get(base + HEALTHZ_PATH)
        if response.status_code != 200 or "ok" not in response.text:
            message = f"{base}{HEALTHZ_PATH} answers {response.status_code}"
            remedy = (
                "Check that the reverse proxy leads to this server and passes Host on "
                "(proxy_set_header Host $host); otherwise see the log"
            )
            yield Finding("web", Level.FAULT, message, remedy)
            return
        if IGNORED_HEADER in response.headers:
            message = (
                "the server does not trust the web server in front, so all participants count as"
                " one client, and soon no more are let in"
            )
            remedy = "Name the address of the web server in front in trusted_proxies, and restart"
            yield Finding("web", Level.FAULT, message, remedy)
        if urlsplit(base).scheme == "http" and urlsplit(base).hostname not in _LOCAL_HOSTS:
            yield Finding(
                "web", Level.FAULT, "public_url is not encrypted", "Get a certificate and use https"
            )
        sent = client.post(f"{base}/p/doctor/questionnaire", content=_LARGE_BODY)
        if sent.status_code == _TOO_LARGE_STATUS:
            message = "the reverse proxy refuses a questionnaire of 200 KiB"
            yield Finding("web", Level.FAULT, message, "client_max_body_size 1m; in nginx")
        page = client.get(f"{base}/run/doctor")
        if "X-Request-ID" not in page.headers:
            message = (
                "the header X-Request-ID is not passed back, so lines of the two logs cannot "
                "be matched"
            )
            yield Finding("web", Level.WARNING, message, "Let the web server pass the header on")
        if "Content-Security-Policy" not in page.headers:
            message = "the pages' security headers are removed on the way"
            yield Finding("web", Level.FAULT, message, "Let the web server pass all headers on")
        yield Finding("web", Level.GOOD, f"{base} answers")


def check_certificate(at: Installation) -> Iterator[Finding]:
    """Read the certificate of the public address, as a browser does."""
    address = urlsplit(at.settings.public_url)
    if address.scheme != "https" or not address.hostname:
        yield Finding("certificate", Level.GOOD, "not checked: public_url has none")
        return
    trusted = ssl.create_default_context()
    try:
        ends = _find_expiry(trusted, address.hostname, address.port or _HTTPS_PORT)
    except ssl.SSLCertVerificationError as error:
        message = f"browsers refuse the certificate of {address.hostname}: {error.verify_message}"
        remedy = "Renew it: certbot renew, or see the log of the web server in front"
        yield Finding("certificate", Level.FAULT, message, remedy)
        return
    except (OSError, ValueError) as error:
        yield Finding("certificate", Level.WARNING, f"it could not be read ({error})", "See `web`")
        return
    days = (ends - at.now()).total_seconds() / 86_400
    message = f"the certificate of {address.hostname} is good for {days:.0f} days"
    remedy = "Renew it, and find out why that did not happen by itself: certbot renew --dry-run"
    if days < _WARN_DAYS:
        level = Level.FAULT if days < _FAULT_DAYS else Level.WARNING
        yield Finding("certificate", level, message, remedy)
    else:
        yield Finding("certificate", Level.GOOD, message)


def _find_expiry(trusted: ssl.SSLContext, host: str, port: int) -> datetime:
    with (
        socket.create_connection((host, port), timeout=_HANDSHAKE_TIMEOUT_S) as raw_socket,
        trusted.wrap_socket(raw_socket, server_hostname=host) as secured,
    ):
        # A trusted certificate always has an end date.
        peer = secured.getpeercert() or {}
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(str(peer["notAfter"])), UTC)
