"""A mail server and a web server on this machine that keep what they are sent."""

import json
import socketserver
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.documentation.web_servers import make_certificate
from tests.webapp.researcher.conftest import (  # noqa: F401 - fixtures
    browser,
    password_hash,
    researcher,
)


class _Mails(socketserver.StreamRequestHandler):
    """As much of RFC 5321 as a client needs."""

    def handle(self) -> None:
        def say(line: str) -> None:
            self.wfile.write(f"{line}\r\n".encode())

        say("220 here")
        while line := self.rfile.readline().decode().strip():
            command = line.upper()
            if command.startswith("RCPT TO") and "nobody@" in line:
                say("550 no such mailbox")
            elif command == "DATA":
                say("354 go on")
                lines = iter(self.rfile.readline, b".\r\n")
                self.server.mails.append(b"".join(lines).decode())
                say("250 taken")
            elif command == "QUIT":
                say("221 bye")
                return
            else:
                say("250 ok")


class _Hook(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((self.headers["Host"], self.path, json.loads(body)))
        status = int(self.path.rpartition("/")[2])
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", "https://169.254.169.254/latest/meta-data")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _serving(server):
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def mail_server():
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Mails)
    server.mails = []
    yield from _serving(server)


@pytest.fixture
def hook(tmp_path):
    """A server whose certificate is for study.example.org, and the certificate."""
    certificate, key = make_certificate(tmp_path, "127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hook)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.got, server.certificate = [], certificate
    yield from _serving(server)
