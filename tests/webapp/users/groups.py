"""Groups that share a server: a project each, with members of every role, tokens and limits."""

import re
from collections import Counter
from pathlib import Path

from flask.testing import FlaskClient
from werkzeug.routing import Rule

from experiment.studies.load import load_study
from tests.webapp.conftest import LAUNCHED
from webapp import create_app
from webapp.core.addresses import RESEARCHER_PATH
from webapp.researcher.access import SESSION_COOKIE
from webapp.runs.launch import launch_run
from webapp.users.members import set_member
from webapp.users.projects import ProjectError, add_project, set_limits
from webapp.users.roles import ProjectRole, Role, Scope
from webapp.users.sign_in import make_form_token, open_session
from webapp.users.tokens import make_token
from webapp.users.users import add_user

ROLES = tuple(map(str, ProjectRole))
TOKENS = tuple(f"token {scope}" for scope in Scope)
_LIMITS = {"most_runs": 1, "most_participants": 2, "most_upload_mb": 1, "most_jobs": 1}
# What starts processes, stays open, or ends sessions.
_LEFT_OUT = (
    "launch.check_study",
    "launch.launch_study",
    "reports.start_report",
    "live.stream_live_part",
    "sign_in.end_this_session",
    "sign_in.end_all_sessions",
)


class Groups:
    """An installation that several groups share.

    Args:
        instance: Where it lies.
        number: How many groups.
    """

    def __init__(self, instance: Path, number: int) -> None:
        self.app = create_app(instance, now=lambda: LAUNCHED)
        self.app.config["PROPAGATE_EXCEPTIONS"] = False
        self._sessions = self.app.extensions["parallax"].sessions
        self.names = [f"group-{each:02}-of-it" for each in range(1, number + 1)]
        self._clients: dict[tuple[int, str], tuple[FlaskClient, str]] = {}
        self._tokens: dict[tuple[int, str], str] = {}
        self.refs = [self._made(each) for each in range(number)]

    def _made(self, number: int) -> str:
        with self._sessions.begin() as session:
            project = add_project(session, self.names[number], by="a test", now=LAUNCHED)
            set_limits(session, project, _LIMITS, by="a test", now=LAUNCHED)
            for role in ProjectRole:
                name = f"{role}-{number}"
                user = add_user(session, name, Role.MEMBER, "", by="a test", now=LAUNCHED)
                set_member(session, project, user, role, by="a test", now=LAUNCHED)
                cookie = open_session(session, user, "", LAUNCHED)
                client = self.app.test_client()
                client.set_cookie(SESSION_COOKIE, cookie, path=RESEARCHER_PATH)
                self._clients[number, str(role)] = client, make_form_token(cookie)
                if role == ProjectRole.MANAGER:
                    for scope, told in zip(Scope, TOKENS, strict=True):
                        token = make_token(session, user, told, [scope], 9, LAUNCHED)
                        self._tokens[number, told] = token
        return self._launch(number)

    def _launch(self, number: int) -> str:
        with self._sessions.begin() as session:
            return launch_run(
                session, load_study("minimal"), 1, "direct",
                now=LAUNCHED, code_version="0", project=self.names[number],
            ).ref  # fmt: skip

    def everybody(self, number: int) -> list[str]:
        """Return who asks in a group."""
        return [who for group, who in (*self._clients, *self._tokens) if group == number]

    def walk(self, number: int, of: int, counted: Counter[tuple[str, str]]) -> list[str]:
        """Let everybody of one group ask every route for the things of another, or of their own.

        Returns:
            What is wrong.
        """
        wrong, whose = [], "own" if number == of else "other"
        for rule in self.app.url_map.iter_rules():
            if not rule.rule.startswith(RESEARCHER_PATH) or "static" in rule.endpoint:
                continue
            if rule.endpoint in _LEFT_OUT:
                continue
            if not rule.arguments:
                if whose == "other" and "GET" in (rule.methods or ()):
                    wrong += self._in_common(rule, number, of, counted)
                continue
            if not rule.arguments & {"ref", "project"}:
                continue
            for who in self.everybody(number):
                if whose == "own" and "GET" not in (rule.methods or ()):
                    continue  # what changes one's own things is for other tests
                status, text = self._asked(rule, number, who, of)
                answered = status < 400 and "/sign-in?" not in text
                kind = who if who in ROLES else "tokens"
                counted[kind, f"{whose} {'yes' if answered else 'no'}"] += 1
                # The way to sign in repeats what was asked for.
                told = "" if "/sign-in?" in text else text
                named = self.names[of] in told or f">{self.refs[of]}<" in told
                if whose == "other" and (answered or named):
                    wrong.append(f"{who} of {number} at {rule.rule} of {of}: {status}")
                if status >= 500 and status != 503:
                    wrong.append(f"{who} of {number} at {rule.rule} of {of}: {status}")
        return wrong

    def _in_common(
        self, rule: Rule, number: int, of: int, counted: Counter[tuple[str, str]]
    ) -> list[str]:
        """Ask for a page that belongs to no group, such as a list or the audit log's.

        Returns:
            Where it names another group, its run or one of its people.
        """
        wrong, named = [], [self.names[of], self.refs[of], *(f"{role}-{of}" for role in ROLES)]
        theirs = re.compile("|".join(rf"(?<![\w-]){re.escape(each)}(?![\w-])" for each in named))
        for who in self.everybody(number):
            status, text = self._asked(rule, number, who, of)
            counted[who if who in ROLES else "tokens", "in common"] += 1
            if (found := theirs.search(text)) or (status >= 500 and status != 503):
                told = found[0] if found else status
                wrong.append(f"{who} of {number} at {rule.rule}: {told}")
        return wrong

    def _asked(self, rule: Rule, number: int, who: str, of: int) -> tuple[int, str]:
        method = next(iter(sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})))
        path = rule.rule.replace("<ref>", self.refs[of]).replace("<project>", self.names[of])
        path = path.replace("<participant_ref>", "nobody")
        headers, form = {}, ""
        if who in TOKENS:
            client = self.app.test_client()
            headers = {"Authorization": f"Bearer {self._tokens[number, who]}"}
        else:
            client, form = self._clients[number, who]
        data = {"form_token": form} if method == "POST" else None
        with client.open(path, method=method, headers=headers, data=data) as answer:
            return answer.status_code, f"{answer.headers.get('Location', '')} {answer.text}"

    def use_up(self) -> tuple[int, int, list[str]]:
        """Let each group use up its limits while the others go on.

        Returns:
            How often a group was refused, how often another was served meanwhile, what is wrong.
        """
        refused, taken, wrong = 0, 0, []
        for number, name in enumerate(self.names):
            came = [self._arrive(number) for _ in range(4)]
            if came[-2:] != [429, 429] or 303 not in came:
                wrong.append(f"{name} took more than it may: {came}")
            refused += came.count(429)
            try:
                self._launch(number)
                wrong.append(f"{name} launched more than it may")
            except ProjectError:
                refused += 1
            # The next group has not had anybody yet.
            if number + 1 < len(self.names):
                status = self._arrive(number + 1)
                taken += status == 303
                if status != 303:
                    wrong.append(f"{self.names[number + 1]} was refused because of {name}")
        return refused, taken, wrong

    def _arrive(self, number: int) -> int:
        at = f"/run/{self.refs[number]}"
        return self.app.test_client().post(at, data={"decision": "accept"}).status_code

    def close(self) -> None:
        """End it."""
        self.app.extensions["parallax"].engine.dispose()
