"""Checks of what the installation works with: the database, the backups, the jobs, the web."""

import re
from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import urlsplit

import httpx
from sqlalchemy import text

from webapp.database.backup.routine import age_s, last_backup
from webapp.database.schema import revisions, stored_revision
from webapp.doctor.findings import Finding, Installation, Level
from webapp.http.health import HEALTHZ
from webapp.jobs.periodic import PERIODIC
from webapp.jobs.queue import last_done

_CLOCKS_APART = timedelta(seconds=2)
_BACKUP_IS_OLD_S = 26 * 3600.0
_TICKS_MISSED = 5
_PATIENCE_S = 20.0
# As large as a questionnaire may be; web servers in front have limits of their own.
_LARGE_BODY = b"x" * (200 * 1024)
_TOO_LARGE = 413
_LOCAL = ("localhost", "127.0.0.1", "::1")


def database(at: Installation) -> Iterator[Finding]:
    """Look at whether the database answers and has this code's schema."""
    if at.engine is None:
        yield Finding("database", Level.FAULT, at.trouble, "docs/database.md")
        return
    revision, latest = stored_revision(at.engine), revisions()[-1]
    if revision in (None, latest):
        yield Finding("database", Level.GOOD, f"it answers; its schema is {revision or 'not made'}")
    else:
        say = f"its schema is {revision}, but this version needs {latest}"
        yield Finding("database", Level.FAULT, say, "parallax db backup FILE; parallax db upgrade")


def clock(at: Installation) -> Iterator[Finding]:
    """Compare this machine's clock with the database's."""
    if at.engine is None or at.engine.dialect.name == "sqlite":
        yield Finding("clock", Level.GOOD, "the database runs on this machine's clock")
        return
    with at.engine.connect() as connection:
        before = at.now()
        theirs = connection.execute(text("SELECT clock_timestamp()")).scalar_one()
        after = at.now()
    # Between the two looks at ours nothing is known of when theirs was read.
    apart = max(theirs - after, before - theirs, timedelta())
    say = f"this machine's clock is at least {apart.total_seconds():.1f} s away from the database's"
    if apart > _CLOCKS_APART:
        yield Finding("clock", Level.FAULT, say, "Synchronise the clocks of both machines by NTP")
    else:
        yield Finding("clock", Level.GOOD, "the database's clock agrees")


def backup(at: Installation) -> Iterator[Finding]:
    """Look at how old the newest sound backup is."""
    remedy = "parallax db backup FOLDER --keep 30 --drill, every night: docs/database.md"
    last = last_backup(at.folder)
    if last is None:
        yield Finding(
            "backup", Level.WARNING, "no backup was made from this instance folder", remedy
        )
        return
    hours = age_s(last, at.now()) / 3600
    say = f"{last.file} is {hours:.1f} h old, {'tried out' if last.drilled else 'not tried out'}"
    if hours * 3600 > _BACKUP_IS_OLD_S:
        yield Finding("backup", Level.WARNING, say, remedy)
    elif not last.drilled:
        yield Finding("backup", Level.WARNING, say, f"parallax db drill {last.file}")
    else:
        yield Finding("backup", Level.GOOD, say)


def jobs(at: Installation) -> Iterator[Finding]:
    """Look at when each periodic job last succeeded on this machine."""
    late = []
    for name, job in PERIODIC.items():
        done = last_done(at.folder, name)
        if done is None or (at.now() - done).total_seconds() > _TICKS_MISSED * job.every_s:
            when = f"last at {done.isoformat(timespec='seconds')}" if done else "never yet"
            late.append(f"{name} ({when})")
    if late:
        say = f"these jobs have not succeeded recently on this machine: {', '.join(late)}"
        remedy = "Check that a server or parallax work is running. The log says why a job failed"
        yield Finding("jobs", Level.WARNING, say, remedy)
    else:
        yield Finding("jobs", Level.GOOD, "every job succeeded recently")


def ready(at: Installation) -> Iterator[Finding]:
    """Ask the server at its private port whether it should get participants."""
    host, port = at.settings.metrics_host, at.settings.metrics_port
    if not port:
        yield Finding("ready", Level.GOOD, "not checked: no private port is set (metrics_port)")
        return
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    base = f"http://[{here}]:{port}" if ":" in here else f"http://{here}:{port}"
    try:
        found = httpx.get(f"{base}/readyz", timeout=_PATIENCE_S, trust_env=False).json()
    except (httpx.HTTPError, ValueError) as error:
        say = f"no server answers at {base}/readyz ({type(error).__name__})"
        yield Finding(
            "ready", Level.WARNING, say, "Check that the server is running with these settings"
        )
        return
    for problem in found["problems"]:
        yield Finding("ready", Level.FAULT, problem, "docs/serving.md#several-machines")
    if not found["problems"]:
        yield Finding("ready", Level.GOOD, f"{base}/readyz says so")


def web(at: Installation) -> Iterator[Finding]:
    """Ask the server as participants do: by its public address, through what stands in front."""
    base = at.settings.public_url.rstrip("/")
    if not base:
        level = Level.GOOD if at.settings.host in _LOCAL else Level.WARNING
        say = (
            "public_url is not set, so links lead to this machine, and requests for any host "
            "name are answered"
        )
        yield Finding("web", level, say, "" if level is Level.GOOD else "Set public_url")
        return
    try:
        yield from _through(base)
    except httpx.HTTPError as error:
        yield _no_answer(base, error)


def _no_answer(base: str, error: httpx.HTTPError) -> Finding:
    distrust = re.search(r"certificate verify failed: ([^(]*)", str(error))
    if distrust:
        say = f"the certificate of {base} is not trusted: {distrust[1].strip()}"
        remedy = (
            "Check the certificate, and that the web server sends those between it and its "
            "authority. For an authority of your institution, name its file in SSL_CERT_FILE"
        )
    else:
        say = f"{base} does not answer ({type(error).__name__}: {error})"
        remedy = "Check the name, the reverse proxy and the server"
    return Finding("web", Level.FAULT, say, remedy)


def _through(base: str) -> Iterator[Finding]:
    trusted = httpx.create_ssl_context(trust_env=False)
    # The system's own authorities, and those of SSL_CERT_FILE.
    trusted.load_default_certs()
    with httpx.Client(timeout=_PATIENCE_S, trust_env=False, verify=trusted) as client:
        answered = client.get(base + HEALTHZ)
        if answered.status_code != 200 or "ok" not in answered.text:
            say = f"{base}{HEALTHZ} answers {answered.status_code}"
            remedy = (
                "Check that the reverse proxy passes Host on (proxy_set_header Host $host); "
                "otherwise see the log"
            )
            yield Finding("web", Level.FAULT, say, remedy)
            return
        if urlsplit(base).scheme == "http" and urlsplit(base).hostname not in _LOCAL:
            yield Finding(
                "web", Level.FAULT, "public_url is not encrypted", "Get a certificate and use https"
            )
        sent = client.post(f"{base}/p/doctor/questionnaire", content=_LARGE_BODY)
        if sent.status_code == _TOO_LARGE:
            say = "the reverse proxy refuses a questionnaire of 200 KiB"
            yield Finding("web", Level.FAULT, say, "client_max_body_size 1m; in nginx")
        page = client.get(f"{base}/run/doctor")
        if "X-Request-ID" not in page.headers:
            say = (
                "the header X-Request-ID is not passed back, so lines of the two logs cannot "
                "be matched"
            )
            yield Finding("web", Level.WARNING, say, "Let the web server pass the header on")
        if "Content-Security-Policy" not in page.headers:
            say = "the pages' security headers are removed on the way"
            yield Finding("web", Level.FAULT, say, "Let the web server pass all headers on")
        yield Finding("web", Level.GOOD, f"{base} answers")
