"""The boundary of projects: every route against everybody, tried over HTTP with the real app."""

import pytest

from tests.webapp.done_once import DoneOnce
from tests.webapp.researcher import boundary
from tests.webapp.researcher.boundary import (
    ELSEWHERE,
    OWNERS_OF_TOKENS,
    PERSONS,
    TOKENS,
    expected,
    expected_of_token,
    needs,
    rules,
    token_name,
)
from webapp.users.roles import Right, Scope

pytestmark = pytest.mark.one_database
# Signing out ends the walk, so it comes last, and each time after signing in anew.
ENDING = ("sign_in.end_this_session", "sign_in.end_all_sessions")


@pytest.fixture
def world(app, instance, sessions, monkeypatch):
    boundary.without_commands(monkeypatch)
    return boundary.build(app, sessions, DoneOnce((instance,), lambda: ""))


def outcome(status: int, text: str) -> str:
    """Return what an answer means, in the words of the table."""
    if status == 303 and "/researcher/sign-in?" in text:
        return "sign in"
    if status == 401 and "no_token" in text:
        return "no token"
    if status == 403:
        return "no"
    if status == 404 and ("no study at this address" in text or "no project at this" in text):
        return "unseen"
    return "yes"


@pytest.mark.parametrize("who", [*PERSONS, *TOKENS])
def test_every_cell_of_the_table_is_what_the_app_answers(world, sessions, who):
    with world.app.app_context():
        routes = [(rule, needs(world.app, rule)) for rule in rules(world.app)]
    wrong = []
    for rule, needed in sorted(routes, key=lambda each: each[0].endpoint in ENDING):
        if rule.endpoint in ENDING and who in world.forms:
            world.sign_in_anew(sessions, who)
        found = outcome(*world.ask(rule, who))
        if found != expected(needed, who):
            wrong.append((rule.rule, found, expected(needed, who)))
    assert not wrong


# These have every right in their own project, or in what belongs to none; others have fewer.
@pytest.mark.parametrize("who", ["manager", "manager of another project", "researcher"])
def test_no_answer_to_anybody_names_anything_of_a_project_that_is_not_theirs(world, who):
    theirs = world.other if who == "manager of another project" else world.ref
    foreign = world.ref if theirs == world.other else world.other
    name = boundary.HERE if theirs == world.other else ELSEWHERE
    for rule in rules(world.app):
        if rule.endpoint in ENDING or rule.endpoint.startswith("api."):
            continue
        own = "here" if name == ELSEWHERE else ELSEWHERE
        _, text = world.ask(rule, who, ref=theirs, project=own)
        assert foreign not in text, rule.rule
        status, text = world.ask(rule, who, ref=foreign, project=name)
        if "<" in rule.rule or isinstance(_needed(world, rule), Right):
            unseen, told = world.ask(rule, who, ref="0123456789", project="no-such-project")
            # Word for word what is said of a run that does not exist.
            assert status in (403, 404), (rule.rule, status)
            assert (status, text) == (unseen, told), rule.rule


def test_a_token_sees_no_run_of_another_project_and_opens_no_page(world):
    for rule in rules(world.app):
        for who in TOKENS:
            status, text = world.ask(rule, who, ref=world.other)
            if not rule.endpoint.startswith("api."):
                assert status != 200 or needs_nothing(world, rule), rule.rule
                continue
            assert world.other not in text
            if "<ref>" in rule.rule:
                assert status in (403, 404)


def test_a_token_of_anybody_and_any_scope_gets_what_its_user_may_and_no_more(world):
    with world.app.app_context():
        routes = [(rule, needs(world.app, rule)) for rule in rules(world.app)]
    wrong = []
    for rule, needed in routes:
        if not isinstance(needed, Scope):
            continue
        for who in OWNERS_OF_TOKENS:
            for scope in Scope:
                status, text = world.ask(rule, token_name(who, scope))
                found = outcome(status, text)
                if found != expected_of_token(rule, needed, who, scope):
                    wrong.append((rule.rule, who, scope, status, text[:80]))
                if found != "yes" or who == "manager of another project":
                    assert world.ref not in text, (rule.rule, who, scope)
    assert not wrong


def test_a_cookie_opens_nothing_that_is_for_programs(world):
    for rule in rules(world.app):
        if rule.endpoint.startswith("api."):
            assert world.ask(rule, "owner")[0] == 401


def test_the_tables_of_routes_and_of_tokens_are_those_of_this_app(app):
    page = (boundary.DOCS / "boundaries.md").read_text(encoding="utf-8")
    assert boundary.token_table(app) in page, "python -m tests.webapp.researcher.boundary"
    routes = boundary.ROUTES.read_text(encoding="utf-8")
    assert f"{boundary.table(app)}\n" == routes, "python -m tests.webapp.researcher.boundary"


def needs_nothing(world, rule) -> bool:
    return _needed(world, rule) is None


def _needed(world, rule):
    with world.app.app_context():
        return needs(world.app, rule)
