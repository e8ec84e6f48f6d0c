"""Fuzzing: hostile requests to every route, without sign-in and in each role.

``python -m tests.hostile.fuzz --requests 30000`` prints the number of requests by answer. It
fails on any server error (5xx, or a traceback), and on any change made without sign-in.

The short run in the tests is the same code with fewer requests. The seed determines all requests.
"""

import argparse
import random
import re
import string
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.routing import Rule

from experiment.studies.load import load_study
from webapp import create_app
from webapp.core.clock import utc_now
from webapp.database.engine import reading
from webapp.database.models import Base
from webapp.runs.launch import launch_run
from webapp.users.passwords import hash_password
from webapp.users.roles import Role
from webapp.users.sign_in import open_session
from webapp.users.users import add_user

COOKIE, RESEARCHER = "parallax_researcher", "/researcher"
# Long work in processes of its own, a stream that stays open, and what ends the sessions with which
# the others are tried: the tests of each look at them.
LEFT_OUT = (
    "launch.check_study",
    "launch.launch_study",
    "reports.start_report",
    "installation.show_doctor_findings",
    "live.stream_live_part",
    "static",
    "sign_in.end_this_session",
    "sign_in.end_all_sessions",
)
METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS")
HOSTILE = (
    "", " ", "\x00", "é", "\uff1d1+1", "=1+1",
    "../../etc/passwd", "%2e%2e%2f", "' or 1=1 --",
    "<script>alert(1)</script>", "\u202egnp.exe", "9" * 400, "-1", "0", "1e309", "NaN", "null",
    "true", "[]", "{}", "{{7*7}}", "%s%n", "a" * 5_000, "\r\nSet-Cookie: a=b", "²", "٣", "accept",
    "yes", "first", "bonus", "approve", "erase", "direct", "minimal",
)  # fmt: skip
FIELDS = (
    "decision", "code", "wish", "session", "name", "password", "next", "who", "act", "amount",
    "reason", "category", "live", "agreed", "form_token", "study", "seed", "recruiter", "hours",
    "state", "sort", "search", "link", "uuid", "position", "side", "rt_ms", "input_method",
    "native_language", "assignmentId", "hitId", "workerId", "turkSubmitTo", "PROLIFIC_PID",
)  # fmt: skip
# What people may write who are not signed in: participants, and who tries passwords.
OPEN_TO_ALL = (
    "answer", "arrival_address", "consent_text", "device", "event", "failed_sign_in", "identity",
    "link_visit", "outgoing_report", "participant", "place", "response", "run_count", "trial",
)  # fmt: skip
HOSTS = (
    "localhost", "a" * 64, "a" * 64 + ".example", "..", "[::1", "é.example", "x:y",
    "a b", "x:99999", "",
)  # fmt: skip


@dataclass
class Findings:
    """What became of the requests.

    Attributes:
        statuses: How many got which status.
        failures: Each request that ended in an error of the server's own.
    """

    statuses: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


class Fuzzer:
    """Sends requests to an app on which the minimal study is launched.

    Args:
        app: The app; a run and users of each role are made in its database.
        seed: What is sent follows from it.
    """

    def __init__(self, app: Flask, seed: int) -> None:
        self.app, self.random = app, random.Random(seed)
        # As in service: an exception becomes the page that people see.
        app.config["PROPAGATE_EXCEPTIONS"] = False
        self.sessions = app.extensions["parallax"].sessions
        with self.sessions.begin() as session:
            self.run = launch_run(
                session, load_study("minimal"), 1, "direct", now=utc_now(), code_version="0"
            ).ref
        self.clients: list[tuple[str, FlaskClient]] = [("nobody", app.test_client())]
        self.clients += [(role, self._signed_in(role)) for role in map(str, Role)]
        self.rules = [
            rule for rule in app.url_map.iter_rules()
            if not rule.endpoint.endswith(LEFT_OUT)
        ]  # fmt: skip

    def _signed_in(self, role: str) -> FlaskClient:
        with self.sessions.begin() as session:
            now = utc_now() + timedelta(0)
            user = add_user(session, role, Role(role), hash_password("x" * 12), by="fuzz", now=now)
            token = open_session(session, user, "", now)
        client = self.app.test_client()
        client.set_cookie(COOKIE, token, path=RESEARCHER)
        return client

    def requests(self, number: int) -> Findings:
        """Send this many requests and return what became of them."""
        found = Findings()
        with self.app.test_client() as plain:
            agreed = plain.post(f"/run/{self.run}", data={"decision": "accept"})
            self.token = agreed.location.strip("/").split("/")[-1]
        for _ in range(number):
            self._one(found)
        return found

    def closed_to_all(self) -> dict[str, int]:
        """Return a digest of each table in which nobody may write who is not signed in."""
        tables = [each for each in Base.metadata.sorted_tables if each.name not in OPEN_TO_ALL]
        with reading(self.sessions) as session:
            rows = {each.name: session.execute(select(each)).all() for each in tables}
        return {name: hash(repr(found)) for name, found in rows.items()}

    def _one(self, found: Findings) -> None:
        who, client = self.random.choice(self.clients)
        rule = self.random.choice(self.rules)
        declared = sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
        method = self.random.choice(declared if self.random.random() < 0.9 else METHODS)
        path = self._path(rule)
        options = self._options(client, who)
        before = self.closed_to_all() if who == "nobody" else None
        response = client.open(path, method=method, **options)
        found.statuses[response.status_code] += 1
        own_error = response.status_code >= 500 or b"Traceback" in response.data
        # A node tells who asks for another version's files to ask again: no error of its own.
        own_error = own_error and not (
            path.startswith("/assets/") and "Retry-After" in response.headers
        )
        response.close()
        if own_error:
            found.failures.append(f"{who} {method} {path!r} {options!r}")
        if before is not None and (after := self.closed_to_all()) != before:
            changed = ", ".join(name for name in before if after[name] != before[name])
            found.failures.append(f"nobody changed {changed}: {method} {path!r} {options!r}")

    def _path(self, rule: Rule) -> str:
        def value(match: re.Match[str]) -> str:
            name = match[1].rpartition(":")[2]
            known = {"ref": self.run, "token": self.token}.get(name, "x")
            text = known if self.random.random() < 0.7 else self._text()
            return quote(text.replace("/", ""), safe="") or "x"

        return re.sub(r"<([^>]+)>", value, rule.rule)

    def _options(self, client: FlaskClient, who: str) -> dict[str, object]:
        options: dict[str, object] = {}
        if self.random.random() < 0.3:
            options["query_string"] = dict(self._pairs())
        chance = self.random.random()
        if chance < 0.6:
            options["data"] = dict(self._pairs()) | self._form_token(client, who)
        elif chance < 0.8:
            options["json"] = self._json(3)
        elif chance < 0.9:
            options["data"] = self.random.randbytes(self.random.randrange(200))
            options["content_type"] = self.random.choice(
                ("application/json", "multipart/form-data; boundary=x", "text/plain", "x")
            )
        if self.random.random() < 0.1:
            options["headers"] = {"Host": self.random.choice(HOSTS)}
        return options

    def _form_token(self, client: FlaskClient, who: str) -> dict[str, str]:
        if who == "nobody" or self.random.random() < 0.2:
            return {}
        from webapp.users.sign_in import make_form_token

        cookie = client.get_cookie(COOKIE, path=RESEARCHER)
        return {"form_token": make_form_token(cookie.value if cookie else "")}

    def _pairs(self) -> Iterator[tuple[str, str]]:
        for _ in range(self.random.randrange(6)):
            yield self.random.choice(FIELDS), self._text()

    def _text(self) -> str:
        if self.random.random() < 0.7:
            return self.random.choice((*HOSTILE, self.run))
        letters = string.printable + "\u200b\u202e\ufeffäß漢字😀"
        return "".join(self.random.choices(letters, k=self.random.randrange(40)))

    def _json(self, depth: int) -> object:
        kinds = 8 if depth else 6
        kind = self.random.randrange(kinds)
        if kind == 6:
            return [self._json(depth - 1) for _ in range(self.random.randrange(4))]
        if kind == 7 or (depth == 3 and kind > 1):
            return {self.random.choice(FIELDS): self._json(depth - 1) for _ in range(5)}
        return (
            f"{self._text()}\ud83d",
            None,
            True,
            self.random.randrange(-(10**20), 10**20),
            0.5,
            10.0**300,
        )[kind]


def main() -> None:
    """Print what became of the requests; exit 1 where one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=30_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        app = create_app(Path(folder) / "instance")
        fuzzer = Fuzzer(app, options.seed)
        found = fuzzer.requests(options.requests)
        app.extensions["parallax"].engine.dispose()
    for status, number in sorted(found.statuses.items()):
        print(f"{status}  {number}")
    print(f"{len(found.failures)} failures")
    for failure in found.failures[:20]:
        print(failure[:500])
    sys.exit(bool(found.failures))


if __name__ == "__main__":
    main()
