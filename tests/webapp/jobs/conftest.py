"""A stand-in of a panel, a mail server and a web server, all on this machine."""

import json
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from sqlalchemy import select

from experiment.studies.files import study_files
from experiment.studies.load import frozen_study
from tests.documentation.web_servers import make_certificate
from tests.webapp.conftest import start_run
from tests.webapp.payments.conftest import hit, pay_rewards, platform, worked  # noqa: F401
from tests.webapp.researcher.conftest import (  # noqa: F401 - fixtures
    browser,
    password_hash,
    researcher,
)
from webapp.database.engine import reading
from webapp.database.models import OutgoingReport
from webapp.services import EXTENSION

GRANTED = (
    "<WebstudyCreditResponse><Result><a:credit_status>G</a:credit_status></Result>"
    "</WebstudyCreditResponse>"
)


class Panel:
    """A panel's server that says what a test wants, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers: list[tuple[int, str] | None] = []
        self.url = ""

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("Content-Length") or 0)
        self.asked.append(handler.path + handler.rfile.read(length).decode())
        reply = self.answers.pop(0) if self.answers else (200, GRANTED)
        if reply is None:
            handler.close_connection = True
            return
        body = reply[1].encode()
        handler.send_response(reply[0])
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)


@contextmanager
def serving(panel: Panel) -> Iterator[None]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            panel.answer(self)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    panel.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def panel() -> Iterator[Panel]:
    panel = Panel()
    with serving(panel):
        yield panel


@pytest.fixture
def services(app):
    return app.extensions[EXTENSION]


@pytest.fixture
def finish(study, sessions, services, panel, client, visit):
    """Return a function that finishes a run of a study with that panel, and gives the run."""

    def under(table: str = "", person: str = "77", erased: str = "", at_work=None):
        own = f'values = {{ site = "{panel.url}", experiment_id = "123" }}'
        files = study_files(study)
        toml = f'{files["study.toml"].decode()}\n[panel]\npreset = "sona"\n{own}\n{table}\n'
        changed = frozen_study({**files, "study.toml": toml.encode()}, study.folder)
        run = start_run(sessions, changed, "panel")
        link = f"/run/{run.ref}?survey_code={person}"
        visitor = visit(client.post(link, data={"decision": "accept"}).location)
        if at_work is not None:
            at_work(visitor)
        visitor.answer_all()
        if erased != "answered":
            visitor.questionnaire(native_language="English")
            visitor.questionnaire(native_language="English")
        if erased:
            visitor.client.post(f"{visitor.home}withdraw", data={"wish": "erase"})
        assert "credit is being granted" in visitor.page().text
        return run

    return under


@pytest.fixture
def stored(sessions):
    def read() -> OutgoingReport:
        with reading(sessions) as session:
            return session.scalars(select(OutgoingReport)).one()

    return read


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
