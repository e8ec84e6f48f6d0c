"""An installation with a run of a project, an owner's browser, a program and a participant."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from flask.testing import FlaskClient
from werkzeug.routing import Rule

from experiment.studies.load import load_study
from webapp import create_app
from webapp.core.addresses import RESEARCHER_PATH
from webapp.core.clock import utc_now
from webapp.core.subprocesses import CommandResult
from webapp.database.engine import Sessions
from webapp.researcher import installation, run_page
from webapp.researcher.access import SESSION_COOKIE
from webapp.runs.launch import launch_run
from webapp.users.projects import add_project
from webapp.users.roles import Role, Scope
from webapp.users.sign_in import make_form_token, open_session
from webapp.users.tokens import make_token
from webapp.users.users import add_user

PROJECT = "a-project"
# They end what the others are tried with, or start long work: they are asked without the form's
# digest, and so nothing is done, after every header was read.
_NOT_DONE = frozenset(
    {
        "sign_in.end_this_session",
        "sign_in.end_all_sessions",
        "projects.close_project",
        "runs.close_to_newcomers",
        "reports.start_report",
    }
)

_AREAS = {
    "answers": "participants: answers", "assets": "files", "health": "health",
    "platform_hooks": "platforms' calls", "api": "programs",
}  # fmt: skip
_ANSWER = {
    "uuid": "6b1f6f1e-0000-4000-8000-000000000001", "position": 1, "side": "first",
    "rt_ms": 812.5, "input_method": "key", "client_time": "2026-03-01T09:00:01.500Z",
}  # fmt: skip


@dataclass
class Site:
    """An installation, and what requests to it are made of.

    Args:
        instance: Where it lies.
        database_url: PostgreSQL's database; empty for SQLite's file.
    """

    instance: Path
    database_url: str = ""
    rules: list[Rule] = field(init=False)

    def __post_init__(self) -> None:
        if self.database_url:
            self.instance.mkdir()
            settings = f"database_url = {json.dumps(self.database_url)}\n"
            (self.instance / "parallax.toml").write_text(settings, encoding="utf-8")
        self.app = create_app(self.instance)
        # As in service: an exception becomes the page that people see.
        self.app.config["PROPAGATE_EXCEPTIONS"] = False
        self.sessions: Sessions = self.app.extensions["parallax"].sessions
        # Given back at the end.
        self._before = (run_page._MOST_CHECKS, installation.run_parallax)
        run_page._MOST_CHECKS = 1
        # The doctor is a command of a second and more, which no header reaches.
        installation.run_parallax = lambda *_, **__: CommandResult(worked=True, text="[]")
        now = utc_now()
        with self.sessions.begin() as session:
            add_project(session, PROJECT, by="a benchmark", now=now)
            study = load_study("minimal")
            self.ref = launch_run(
                session, study, 1, "direct", now=now, code_version="0", project=PROJECT
            ).ref
            user = add_user(session, "owner", Role.OWNER, "", by="a benchmark", now=now)
            self.cookie = open_session(session, user, "", now)
            self.bearer = make_token(session, user, "all", list(Scope), 9, now)
        self.form = make_form_token(self.cookie)
        # One stays; the other is who asks to leave.
        self.token, self._leaver = self._arrived(), self._arrived()
        self.rules = list(self.app.url_map.iter_rules())

    def _arrived(self) -> str:
        came = self.app.test_client().post(f"/run/{self.ref}", data={"decision": "accept"})
        return came.location.strip("/").split("/")[-1]

    def owner(self) -> FlaskClient:
        """Return the browser of the installation's owner."""
        client = self.app.test_client()
        client.set_cookie(SESSION_COOKIE, self.cookie, path=RESEARCHER_PATH)
        return client

    def class_of(self, rule: Rule, method: str) -> str:
        """Return what kind of route it is: a row of the table."""
        area = rule.endpoint.partition(".")[0]
        if rule.endpoint.endswith("static"):
            return "files"
        if named := _AREAS.get(area):
            return named
        if not rule.rule.startswith(RESEARCHER_PATH):
            return "participants: pages" if method == "GET" else "participants: forms"
        if "/studies" in rule.rule or "/launch" in rule.rule:
            return "room: studies"
        if "/reports" in rule.rule or rule.endpoint.startswith(
            ("charts.", "film.", "report_pages")
        ):
            return "room: results"
        return "room: pages" if method == "GET" else "room: forms"

    def path_of(self, rule: Rule, given: Mapping[str, str] | None = None) -> str:
        """Return an address of the route at which there is something, but for what is given."""
        known = {
            "ref": self.ref, "token": self.token, "project": PROJECT, "participant_ref": "nobody",
            "filename": "parallax.css", "name": "prolific", "version": "0",
        }  # fmt: skip
        if rule.endpoint in ("admission.leave", "rights.leave"):
            known["token"] = self._leaver
        if rule.endpoint == "assets.send":
            known |= {"name": "parallax.css", "version": self._version()}
        if rule.rule.startswith(RESEARCHER_PATH):
            known["filename"] = "researcher.css"
        known |= given or {}
        return re.sub(r"<(?:\w+:)?(\w+)>", lambda found: known[found[1]], rule.rule)

    def _version(self) -> str:
        page = self.app.test_client().get(f"/run/{self.ref}").text
        found = re.search(r"/assets/([0-9a-f]+)", page)
        assert found
        return found[1]

    def environ_of(self, rule: Rule) -> dict[str, str]:
        """Return who asks, as WSGI says it."""
        if rule.endpoint.startswith("api."):
            return {"HTTP_AUTHORIZATION": f"Bearer {self.bearer}"}
        if rule.rule.startswith(RESEARCHER_PATH):
            return {"HTTP_COOKIE": f"{SESSION_COOKIE}={self.cookie}"}
        return {}

    def body_of(self, rule: Rule) -> dict[str, object]:
        """Return what is sent along with a POST."""
        if rule.endpoint.startswith("answers."):
            return {"json": _ANSWER}
        if rule.endpoint.startswith("consent."):
            return {"data": {"decision": "decline"}}
        done = rule.rule.startswith(RESEARCHER_PATH) and rule.endpoint not in _NOT_DONE
        return {"data": {"form_token": self.form} if done else {"x": "y"}}

    def close(self) -> None:
        """End it."""
        run_page._MOST_CHECKS, installation.run_parallax = self._before
        self.app.extensions["parallax"].engine.dispose()
