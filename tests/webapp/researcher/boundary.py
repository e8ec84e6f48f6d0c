"""Two projects with a run each, and everybody who may ask: what the boundary is tried with."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.routing import Rule

from experiment.studies.load import load_study
from tests.webapp.conftest import LAUNCHED
from tests.webapp.done_once import DoneOnce
from webapp.core.addresses import RESEARCHER_PATH
from webapp.database.engine import Sessions
from webapp.researcher.access import SESSION_COOKIE, get_required_access
from webapp.runs.launch import launch_run
from webapp.users.members import set_member
from webapp.users.projects import add_project, find_project
from webapp.users.roles import ROLE_RIGHTS, SCOPE_RIGHTS, ProjectRole, Right, Role, Scope
from webapp.users.sign_in import make_form_token, open_session
from webapp.users.tokens import make_token
from webapp.users.users import add_user, find_user

# Roles of the installation without any membership, roles in the project, and others.
OUTSIDE = ("anonymous", *map(str, Role), "manager of another project")
INSIDE = tuple(map(str, ProjectRole))
PERSONS = (*OUTSIDE, *INSIDE)
TOKENS = tuple(f"token {scope}" for scope in Scope)
# Whoever has an account has tokens of every scope, too.
OWNERS_OF_TOKENS = PERSONS[1:]
HERE, ELSEWHERE = "here", "elsewhere"
DOCS = Path(__file__).parents[3] / "docs"
ROUTES = Path(__file__).with_name("routes.md")


@dataclass
class World:
    """An installation with two projects.

    Attributes:
        app: The app.
        ref: The run of the project that is asked about.
        other: The run of the other project.
        clients: A browser of each person, by who it is.
        tokens: A token of the manager for each scope, and each one's by ``token_name``.
    """

    app: Flask
    ref: str
    other: str
    clients: dict[str, FlaskClient]
    forms: dict[str, str]
    tokens: dict[str, str]

    def sign_in_anew(self, sessions: Sessions, who: str) -> None:
        """Give somebody another session, the one before being over."""
        with sessions.begin() as session:
            token = open_session(session, find_user(session, who.replace(" ", "_")), "", LAUNCHED)
        self.clients[who].set_cookie(SESSION_COOKIE, token, path=RESEARCHER_PATH)
        self.forms[who] = make_form_token(token)

    def ask(self, rule: Rule, who: str, ref: str = "", project: str = HERE) -> tuple[int, str]:
        """Return the status and the text of the answer to one request."""
        method = next(iter(sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})))
        path = (
            rule.rule.replace("<ref>", ref or self.ref)
            .replace("<participant_ref>", "nobody")
            .replace("<project>", project)
            .replace("<any(questions, rules):part_name>", "rules")
        )
        client, headers = self.app.test_client(), {}
        if who in self.tokens:
            headers = {"Authorization": f"Bearer {self.tokens[who]}"}
        else:
            client = self.clients[who]
        data = {"form_token": self.forms.get(who, ""), "project": project}
        sent = {"query_string": {"project": project}} if method == "GET" else {"data": data}
        with client.open(path, method=method, headers=headers, **sent) as answer:
            return answer.status_code, answer.get_data(as_text=True)


def build(app: Flask, sessions: Sessions, once: DoneOnce) -> World:
    """Return the world, made in an installation."""
    refs, cookies, tokens = once("world", lambda: _stored(sessions), first=True)
    clients = {who: app.test_client() for who in PERSONS}
    for who, cookie in cookies.items():
        clients[who].set_cookie(SESSION_COOKIE, cookie, path=RESEARCHER_PATH)
    forms = {who: make_form_token(cookie) for who, cookie in cookies.items()}
    return World(app, refs[HERE], refs[ELSEWHERE], clients, forms, tokens)


def _stored(sessions: Sessions) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Store the projects and everybody, and return the runs, the sessions and the tokens."""
    refs, cookies, tokens = {}, {}, {}
    with sessions.begin() as session:
        for name in (HERE, ELSEWHERE):
            project = add_project(session, name, by="a test", now=LAUNCHED)
            refs[name] = launch_run(
                session, load_study("minimal"), 1, "direct",
                now=LAUNCHED, code_version="0", project=name,
            ).ref  # fmt: skip
        for who in PERSONS[1:]:
            role = Role(who) if who in set(Role) else Role.MEMBER
            user = add_user(session, who.replace(" ", "_"), role, "", by="a test", now=LAUNCHED)
            if who not in set(Role):
                project = find_project(session, HERE if who in INSIDE else ELSEWHERE)
                here = ProjectRole(who) if who in INSIDE else ProjectRole.MANAGER
                set_member(session, project, user, here, by="a test", now=LAUNCHED)
            for scope, name in zip(Scope, TOKENS, strict=True):
                made = make_token(session, user, name, [scope], 9, LAUNCHED)
                tokens[token_name(who, scope)] = made
                if who == ProjectRole.MANAGER:
                    tokens[name] = made
            cookies[who] = open_session(session, user, "", LAUNCHED)
    return refs, cookies, tokens


class _Done:
    worked, text = False, "a process of its own would do this"


def without_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages start no commands: what they print is none of this, whether they are reached is."""
    for page in ("launch", "studies", "installation"):
        monkeypatch.setattr(f"webapp.researcher.{page}.run_parallax", lambda *_: _Done())
    monkeypatch.setattr("webapp.researcher.run_page._MOST_CHECKS", 1)


def token_name(who: str, scope: Scope) -> str:
    """Return what a person's token of a scope is called here."""
    return f"{who}'s token {scope}"


def rules(app: Flask) -> Iterator[Rule]:
    """Yield every route of the researcher's pages and of programs, as the app has it."""
    for rule in app.url_map.iter_rules():
        if rule.rule.startswith(RESEARCHER_PATH) and rule.endpoint != "researcher_files.static":
            yield rule


def needs(app: Flask, rule: Rule) -> Right | Role | Scope | None:
    """Return what a route needs, as its view says."""
    if rule.endpoint.startswith("api."):
        scope: Scope = app.view_functions[rule.endpoint].scope
        return scope
    return get_required_access(rule.endpoint)


def expected(needed: Right | Role | Scope | None, who: str) -> str:
    """Return what somebody gets of a route of the project HERE: a word of the table.

    The table says it from the two lists of rights alone, and knows nothing of the guard.
    """
    if isinstance(needed, Scope):
        return ("yes" if who == f"token {needed}" else "no") if who in TOKENS else "no token"
    if needed is None:
        return "yes"
    if who == "anonymous" or who in TOKENS:
        return "sign in"
    if isinstance(needed, Role):
        role = Role(who) if who in set(Role) else Role.MEMBER
        return "yes" if role.may(needed) else "no"
    if who == Role.OWNER:
        return "yes"
    if who not in INSIDE:
        return "unseen"
    return "yes" if needed in ROLE_RIGHTS[ProjectRole(who)] else "no"


def expected_of_token(rule: Rule, needed: Scope, who: str, scope: Scope) -> str:
    """Return what somebody's token of a scope gets of a route for programs, in HERE.

    Said from the scopes and the two lists of rights alone, as ``expected`` is.
    """
    if scope != needed:
        return "no"
    if "ref" not in rule.arguments:
        return "yes"  # a list of what its user sees, which may be empty
    return expected(SCOPE_RIGHTS[needed], who)


def token_table(app: Flask) -> str:
    """Return the table of what everybody's tokens get of the routes for programs."""
    columns = [name.replace("manager of another project", "other") for name in OWNERS_OF_TOKENS]
    lines = ["| Request | Scope | " + " | ".join(columns) + " |", "|---" * (len(columns) + 2) + "|"]
    with app.app_context():
        for rule in sorted(rules(app), key=lambda each: each.rule):
            needed = needs(app, rule)
            if isinstance(needed, Scope):
                [method] = (rule.methods or set()) - {"HEAD", "OPTIONS"}
                path = rule.rule.removeprefix(RESEARCHER_PATH).replace("<", "{").replace(">", "}")
                cells = [expected_of_token(rule, needed, who, needed) for who in OWNERS_OF_TOKENS]
                lines.append(f"| {method} `{path}` | *{needed}* | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def table(app: Flask) -> str:
    """Return the table of every route and everybody, as ``routes.md`` has it."""
    short = {name: name.replace("manager of another project", "other") for name in PERSONS}
    columns = (*PERSONS, *TOKENS)
    head = [short.get(name, name).removeprefix("token ") for name in columns]
    lines = ["| Route | Needs | " + " | ".join(head) + " |", "|---" * (len(columns) + 2) + "|"]
    with app.app_context():
        for rule in sorted(rules(app), key=lambda each: (each.rule, sorted(each.methods or ()))):
            [method] = (rule.methods or set()) - {"HEAD", "OPTIONS"}
            needed = needs(app, rule)
            kind = {Right: "right", Role: "role", Scope: "scope"}.get(type(needed))
            told = f"{kind} *{needed}*" if kind else "nothing"
            cells = (expected(needed, who) for who in columns)
            path = rule.rule.removeprefix(RESEARCHER_PATH).replace("<", "{").replace(">", "}")
            lines.append(f"| {method} `{path}` | {told} | " + " | ".join(cells) + " |")
    assert set(SCOPE_RIGHTS) == set(Scope)
    return "\n".join(lines)


def _write() -> None:
    """Write the tables: of routes beside this file, of tokens into the documentation."""
    import re
    import tempfile

    from webapp import create_app

    page = DOCS / "boundaries.md"
    with tempfile.TemporaryDirectory() as folder:
        app = create_app(Path(folder))
        made, of_tokens = table(app), token_table(app)
        app.extensions["parallax"].engine.dispose()
    text = page.read_text(encoding="utf-8")
    ROUTES.write_text(f"{made}\n", encoding="utf-8")
    text = re.sub(r"(?ms)^\| Request \| Scope \| member .*?\n\n", f"{of_tokens}\n\n", text)
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    _write()
