"""Each check finds what it is there for, and is content when it is mended."""

import json
import os
import resource
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit
from wsgiref.types import WSGIApplication

import pytest
from sqlalchemy import text

from marketplace.serving import serve_in_thread
from tests.documentation.web_servers import make_certificate
from webapp import create_app
from webapp.commands.doctor import CHECKS, machine
from webapp.commands.doctor.findings import Finding, Installation, Level, json_text, metrics_text
from webapp.core.clock import utc_now
from webapp.core.keys import make_keys
from webapp.core.settings import Settings
from webapp.database.backup.backup import DrillResult
from webapp.database.backup.routine import record_last_backup
from webapp.database.engine import make_engine
from webapp.jobs.periodic_queue import PERIODIC_JOBS, run_job
from webapp.server.private_port import PrivatePort


@pytest.fixture
def at(app, instance):
    """Return a function that gives the installation, with settings of one's own."""
    services = app.extensions["parallax"]

    def given(**settings: object) -> Installation:
        return Installation(
            instance, services.settings.model_copy(update=settings), services.engine, "", utc_now
        )

    return given


def level(check: str, installation: Installation) -> Level:
    return max(each.level for each in CHECKS[check](installation))


@pytest.mark.one_database
def test_a_key_that_others_may_read_or_guess_is_found(at, instance):
    make_keys(instance)
    path = instance / "secret_key"
    assert level("key", at()) == Level.GOOD
    path.chmod(0o644)
    assert level("key", at()) == Level.FAULT
    path.chmod(0o600)
    path.write_text("password" * 8)
    assert level("key", at()) == Level.WARNING
    assert level("key", at(secret_key_file="/nowhere/key")) == Level.FAULT


@pytest.mark.one_database
def test_files_that_others_may_use_are_found_and_the_remedy_mends_them(at, instance, tmp_path):
    assert level("files", at()) == Level.GOOD
    exports = instance / "exports"
    exports.mkdir(mode=0o700)
    (instance / "link").symlink_to(tmp_path)
    for wide in (instance, instance / "parallax.sqlite3", exports):
        for mode in (0o040, 0o004, 0o010):
            wide.chmod(wide.stat().st_mode | mode)
            [found] = CHECKS["files"](at())
            assert found.level == Level.WARNING
            assert str(wide.relative_to(instance)) in found.text
            subprocess.run(found.remedy.split(), check=True)
            assert level("files", at()) == Level.GOOD


@pytest.mark.one_database
def test_a_database_elsewhere_that_others_may_read_is_found(at, instance, tmp_path):
    elsewhere = tmp_path / "elsewhere.sqlite3"
    elsewhere.touch(0o644)
    elsewhere.chmod(0o644)
    other = replace(at(), engine=make_engine(f"sqlite:///{elsewhere}"))
    [found] = CHECKS["files"](other)
    assert found.level == Level.WARNING
    assert str(elsewhere) in found.text
    elsewhere.chmod(0o600)
    assert level("files", other) == Level.GOOD


@pytest.mark.one_database
def test_too_few_open_files_are_found(at, monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _what: (1024, 4096))
    assert level("open_files", at(connections=4096)) == Level.WARNING
    assert level("open_files", at(connections=4096 - 200)) == Level.GOOD


@pytest.mark.one_database
def test_a_full_disk_is_found(at, monkeypatch):
    usage = type("Usage", (), {"free": 10 * 2**20})
    monkeypatch.setattr("shutil.disk_usage", lambda _path: usage)
    assert level("disk", at()) == Level.FAULT
    usage.free = 2**29
    assert level("disk", at()) == Level.WARNING


def test_a_clock_apart_from_the_database_s_is_found(at):
    assert level("clock", at()) == Level.GOOD
    ours = at()
    ahead = Installation(
        ours.folder, ours.settings, ours.engine, "", lambda: utc_now() + timedelta(minutes=1)
    )
    sqlite = ours.engine.dialect.name == "sqlite"
    assert level("clock", ahead) == (Level.GOOD if sqlite else Level.FAULT)


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (None, Level.GOOD),
        ((True, 0.02), Level.GOOD),
        ((True, 16.0), Level.WARNING),
        ((False, 16.0), Level.WARNING),
    ],
)
def test_a_clock_that_nothing_keeps_is_found(at, monkeypatch, said, expected):
    monkeypatch.setattr(machine, "read_kernel_clock", lambda: said)
    assert level("network_time", at()) == expected


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="adjtimex is Linux'")
def test_the_kernel_is_asked_as_its_own_manual_says():
    found = machine.read_kernel_clock()
    # A sandbox may forbid the call; 16 s is the largest error that a kernel says.
    assert found is None or (isinstance(found[0], bool) and 0 <= found[1] <= 16.0)


@pytest.mark.one_database
def test_a_backup_that_is_missing_old_or_not_tried_out_is_found(at, instance):
    (instance / "b").touch()
    assert level("backup", at()) == Level.WARNING
    record_last_backup(instance, utc_now(), instance / "b", None)
    assert level("backup", at()) == Level.WARNING
    record_last_backup(instance, utc_now(), instance / "b", DrillResult(None, 1.0))
    assert level("backup", at()) == Level.GOOD
    record_last_backup(
        instance, utc_now() - timedelta(hours=27), instance / "b", DrillResult(None, 1.0)
    )
    assert level("backup", at()) == Level.WARNING


def test_jobs_without_success_are_found(at, app, instance):
    assert level("jobs", at()) == Level.WARNING
    for name, job in PERIODIC_JOBS.items():
        assert run_job(name, job, app.extensions["parallax"], instance, None)
    assert level("jobs", at()) == Level.GOOD
    long_ago = (utc_now() - timedelta(hours=1)).timestamp()
    os.utime(instance / "job_release_leases.done", (long_ago, long_ago))
    [found] = CHECKS["jobs"](at())
    assert found.level == Level.WARNING
    assert "release_leases" in found.text and "finish_payments" not in found.text


@pytest.mark.one_database
def test_a_log_that_names_somebody_is_found(at, instance, visitor):
    log = instance / "server.log"
    log.write_text('{"endpoint": "answers.save", "participant": "932yczs8s3u8"} 127.0.0.1:8000\n')
    assert level("log", at()) == Level.GOOD
    for private in (visitor.home, "?workerId=A1B2C3", "from 192.0.2.17"):
        log.write_text(f"GET {private} failed\n")
        assert level("log", at()) == Level.FAULT, private


@contextmanager
def answering(instance: Path) -> Iterator[str]:
    """An app of the instance that answers at the address."""
    app = create_app(instance)
    with serve_in_thread(app) as url:
        yield url
    app.extensions["parallax"].engine.dispose()


@pytest.mark.one_database
def test_what_participants_find_at_the_public_address_is_looked_at(at, instance):
    with answering(instance) as url:
        assert level("web", at(public_url=url)) == Level.GOOD
    assert level("web", at(public_url=url)) == Level.FAULT
    assert level("web", at(public_url="", host="0.0.0.0")) == Level.WARNING


def removing(header: str) -> Callable[[WSGIApplication], WSGIApplication]:
    """A web server in front that takes a header out of every answer."""

    def wrapped(inner: WSGIApplication) -> WSGIApplication:
        def app(environ, start_response):
            def start(status, headers, exc_info=None):
                kept = [each for each in headers if each[0].lower() != header]
                return start_response(status, kept, exc_info)

            return inner(environ, start)

        return app

    return wrapped


def with_host(host: str) -> Callable[[WSGIApplication], WSGIApplication]:
    """A web server in front that passes another Host on."""
    return lambda inner: lambda environ, start: inner({**environ, "HTTP_HOST": host}, start)


def refusing(inner: WSGIApplication) -> WSGIApplication:
    """A web server in front that takes bodies of at most 100 KiB."""

    def app(environ, start_response):
        if int(environ.get("CONTENT_LENGTH") or 0) > 100 * 1024:
            environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
            start_response("413 Content Too Large", [])
            return [b""]
        return inner(environ, start_response)

    return app


def own_page(_inner: WSGIApplication) -> WSGIApplication:
    """A web server in front that shows its own page in place of ours."""

    def app(environ, start_response):
        start_response("200 OK", [("Content-Type", "text/html")])
        return [b"Welcome to nginx!"]

    return app


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("front", "said", "remedy"),
    [
        (removing("content-security-policy"), "security headers", "pass all headers on"),
        (removing("x-request-id"), "X-Request-ID", "pass the header on"),
        (with_host("elsewhere.example"), "answers 400", "passes Host on"),
        (refusing, "200 KiB", "client_max_body_size"),
        (own_page, "/healthz answers 200", "leads to this server"),
    ],
    ids=["security headers", "request id", "host", "large bodies", "own page"],
)
def test_what_a_web_server_in_front_does_wrong_is_named_with_its_remedy(
    at, instance, front, said, remedy
):
    (instance / "parallax.toml").write_text('public_url = "https://study.example.org"\n')
    app = create_app(instance)
    inner = app.wsgi_app
    here = with_host("study.example.org")(inner)
    app.wsgi_app = front(inner) if said == "answers 400" else front(here)
    with serve_in_thread(app) as url:
        found = list(CHECKS["web"](at(public_url=url)))
    app.extensions["parallax"].engine.dispose()
    [wrong] = [each for each in found if each.level is not Level.GOOD]
    assert said in wrong.text and remedy in wrong.remedy


@pytest.mark.one_database
def test_a_server_that_answers_to_names_of_others_is_found(at, instance):
    assert level("hosts", at()) == Level.GOOD
    assert level("hosts", at(host="0.0.0.0")) == Level.WARNING
    address = "https://study.example.org"
    with answering(instance) as url:
        # It was started without public_url, and answers to every name.
        given = at(public_url=address, port=urlsplit(url).port)
        assert level("hosts", given) == Level.FAULT
    [found] = CHECKS["hosts"](given)
    assert found.level == Level.GOOD and "not checked" in found.text
    with (instance / "parallax.toml").open("a", encoding="utf-8") as settings:
        settings.write(f'public_url = "{address}"\n')
    with answering(instance) as url:
        [found] = CHECKS["hosts"](at(public_url=address, port=urlsplit(url).port))
    assert found.level == Level.GOOD and "study.example.org" in found.text


@pytest.mark.one_database
def test_the_private_port_is_asked_for_what_speaks_against_sending_people(at, app, instance):
    assert level("ready", at()) == Level.GOOD
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        private = PrivatePort(listening, instance, lambda: app)
        assert level("ready", at(metrics_port=port, metrics_host="0.0.0.0")) == Level.GOOD
        with app.extensions["parallax"].engine.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        [found] = CHECKS["ready"](at(metrics_port=port))
        assert (found.level, "schema is 9999" in found.text) == (Level.FAULT, True)
        private.stop()
    assert level("ready", at(metrics_port=port)) == Level.WARNING


def test_the_command_says_it_all_and_ends_with_1_at_a_fault(at, app, instance):
    assert level("database", at()) == Level.GOOD
    found = [Finding("key", Level.GOOD, "well"), Finding("key", Level.FAULT, "ill", "mend it")]
    assert str(found[1]) == "fault    key           ill -> mend it"
    lines = [str(Finding(check, Level.WARNING, "ill")) for check in CHECKS]
    assert len({line.index(" ill") for line in lines}) == 1
    assert metrics_text(found).splitlines()[2:] == ['parallax_doctor{check="key"} 2']
    ill = {"check": "key", "level": "fault", "says": "ill", "remedy": "mend it"}
    assert json.loads(json_text(found))[1] == ill
    away = Installation(instance, Settings(), None, "it is away", utc_now)
    assert level("database", away) == Level.FAULT


@pytest.fixture
def secure_site(tmp_path):
    """A server with a certificate of its own; its address, and the certificate's file."""
    certificate, key = make_certificate(tmp_path, "127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    site = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    site.socket = context.wrap_socket(site.socket, server_side=True)
    serving = threading.Thread(target=site.serve_forever)
    serving.start()
    yield f"https://127.0.0.1:{site.server_port}", certificate
    site.shutdown()
    site.server_close()
    serving.join()


@pytest.mark.one_database
def test_a_certificate_that_is_not_trusted_is_said_and_an_authority_can_be_named(
    at, secure_site, monkeypatch
):
    address, certificate = secure_site
    [found] = CHECKS["web"](at(public_url=address))
    assert found.level == Level.FAULT
    assert f"the certificate of {address} is not trusted: self-signed certificate" in found.text
    assert "SSL_CERT_FILE" in found.remedy
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    # Trusted now: it is heard that this server knows no such page.
    assert "answers 501" in next(iter(CHECKS["web"](at(public_url=address)))).text
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        [found] = CHECKS["web"](at(public_url=f"https://127.0.0.1:{port}"))
    assert "does not answer (ConnectError: " in found.text
