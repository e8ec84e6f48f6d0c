"""The web server in front, with the mistakes that people make in its settings."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path

import httpx
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

_HERE = "127.0.0.1"
_NOT_PASSED_ON = ("connection", "transfer-encoding", "content-length", "content-encoding")


class _Handler(BaseHTTPRequestHandler):
    server: "_Server"
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._pass_on()

    do_POST = do_GET

    def _pass_on(self) -> None:
        front = self.server.front
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if front.answers is not None:
            self._send(front.answers, {}, b"<h1>It works</h1>")
            return
        if front.largest is not None and len(body) > front.largest:
            self._send(413, {}, b"")
            return
        headers = dict(self.headers.items()) | {"X-Forwarded-For": _HERE}
        headers["Host"] = front.host or headers["Host"]
        address = f"http://{_HERE}:{front.port}{self.path}"
        try:
            given = httpx.request(
                self.command, address, headers=headers, content=body, timeout=15, trust_env=False
            )
        except httpx.HTTPError:
            self._send(502, {}, b"")
            return
        back = {k: v for k, v in given.headers.items() if k.lower() not in front.removed}
        self._send(given.status_code, back, given.content)

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in _NOT_PASSED_ON:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    front: "Front"

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of those who do not trust the certificate."""


class Front:
    """A web server with TLS that passes requests on, and can be told to do so badly.

    Attributes:
        certificate: The authority that commands trust.
        host: What it says instead of the Host that it was asked for; empty for that one.
        removed: Headers that it does not pass back, in lower case.
        largest: The largest body it passes on.
        answers: The status that it answers by itself.
        port: Where it leads.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.certificate = folder, folder / "authority.pem"
        self._authority = _key()
        self._issuer = _signed("Authority", self._authority, None, _HERE, 3650)
        self.certificate.write_bytes(self._issuer.public_bytes(serialization.Encoding.PEM))
        self.port = 0
        self._server = _Server((_HERE, 0), _Handler)
        self._server.front = self
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.well()
        self._server.socket = self._context.wrap_socket(self._server.socket, server_side=True)
        self.url = f"https://{_HERE}:{self._server.server_port}"

    def well(self) -> None:
        """Do everything as it should be done."""
        self.host, self.removed, self.largest, self.answers = "", frozenset[str](), None, None
        self.show(days=90)

    def leads_to(self, port: object) -> None:
        """Pass requests on to another port from now on."""
        self.port = int(str(port))

    def show(self, *, days: float, address: str = _HERE, trusted: bool = True) -> None:
        """Show another certificate from now on."""
        key = _key()
        by = (self._authority, self._issuer) if trusted else None
        shown = _signed("study", key, by, address, days)
        file = self.folder / "front.pem"
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + shown.public_bytes(serialization.Encoding.PEM)
        )
        self._context.load_cert_chain(file)

    @classmethod
    @contextmanager
    def open(cls, folder: Path) -> Iterator["Front"]:
        """Yield one that answers."""
        front = cls(folder)
        threading.Thread(target=front._server.serve_forever, daemon=True).start()
        yield front
        front._server.shutdown()
        front._server.server_close()


def _key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _signed(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    by: tuple[ec.EllipticCurvePrivateKey, x509.Certificate] | None,
    address: str,
    days: float,
) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    signer, issuer = (key, subject) if by is None else (by[0], by[1].subject)
    ends = datetime.now(UTC) + timedelta(days=days)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(ends)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=name == "Authority", path_length=None), True)
        .sign(signer, hashes.SHA256())
    )
