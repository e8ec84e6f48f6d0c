"""The program that reads every output of a blind run finds nothing, and much once unblinded."""

import re
from pathlib import Path

import pytest

import parallax
from benchmarks.blind.exchange import exchange, judge_again
from benchmarks.blind.outputs import Reader, differences
from benchmarks.blind.routes import (
    ABOUT_NO_RUN,
    ASKED,
    NOT_GIVEN,
    NOT_READ,
    READ_COMMANDS,
    commands,
    routes,
)
from benchmarks.blind.studies import PAID, RULES_OF_TARGETS, RULES_WITHOUT_TARGETS
from benchmarks.blind.world import NOW, World
from experiment.exclusion.rules import RULES
from webapp import create_app

# As a page looks at what stands behind the question mark.
_LOOKED_AT = re.compile(r'request\.args\.get\(\s*"(\w+)"|"(\w+)" in request\.args')


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path, PAID, 2)
    yield world
    world.close()


def test_nothing_that_can_be_read_of_a_blind_run_follows_its_answers(world):
    reader = Reader(world)
    before = reader.read()
    assert len(before) > 60
    assert any("APPROVE" in call for call in world.paid_by.calls)
    assert exchange(world.sessions, errors=True) == 16
    assert differences(before, reader.read()) == []
    assert [*world.told_by_the_log()] == []
    world.unblind()
    some = "film|money|^approve|^bonus|^review"
    before = reader.read(report=False, only=some)
    exchange(world.sessions, errors=True)
    seen = differences(before, reader.read(report=False, only=some))
    assert {each.partition(" ")[0] for each in seen} >= {"GET", "POST", "parallax", "what"}


# Of what a browser and the decisions show, webapp/researcher/test_blind.py says the same.
@pytest.mark.campaign
def test_a_rule_that_counts_targets_tells_of_a_blind_run_no_more_than_its_verdict(tmp_path):
    world = World(tmp_path, "pairs", 4)
    reader = Reader(world)
    before = reader.read()
    assert exchange(world.sessions) > 0
    assert judge_again(world.sessions, NOW) > 0
    assert differences(before, reader.read()) == []
    world.unblind()
    some = "participants|decisions"
    before = reader.read(report=False, only=some)
    exchange(world.sessions)
    assert judge_again(world.sessions, NOW) > 0
    assert differences(before, reader.read(report=False, only=some)) != []
    world.close()


def test_every_kind_of_rule_that_counts_targets_has_a_run():
    assert RULES_OF_TARGETS.isdisjoint(RULES_WITHOUT_TARGETS)
    assert set(RULES.built_in) == RULES_OF_TARGETS | RULES_WITHOUT_TARGETS
    assert [name for name in RULES_WITHOUT_TARGETS if RULES.load(name).reads_targets] == []


def test_every_command_is_read_or_says_why_not(tmp_path):
    """Routes are read unless they are excepted; exceptions that except nothing go."""
    app = create_app(tmp_path)
    asked = [f"{method} {rule.endpoint}" for method, rule in routes(app)]
    app.extensions["parallax"].engine.dispose()
    assert [name for name in NOT_READ if not any(one.startswith(name) for one in asked)] == []
    assert {name.partition(" ")[2] for name in asked} >= ASKED.keys()
    there = dict(commands(parallax.cli))
    words = [
        each[: 2 if each[0] in ("keys", "users", "projects", "db") else 1] for each in READ_COMMANDS
    ]
    assert there.keys() >= set(words)
    silent = [
        path
        for path, of_run in there.items()
        if not of_run
        and path not in words
        and NOT_GIVEN.keys().isdisjoint({path[0], " ".join(path)})
    ]
    assert silent == []
    named = {path[0] for path in there} | {" ".join(path) for path in there}
    assert named >= NOT_GIVEN.keys()


def test_everything_that_a_page_of_the_room_looks_at_in_its_address_is_asked():
    sources = (Path(__file__).parents[2] / "webapp" / "researcher").glob("*.py")
    found = {
        one or other for path in sources for one, other in _LOOKED_AT.findall(path.read_text())
    }
    asked = {name for names in ASKED.values() for name in names} | {"link"}
    assert found - ABOUT_NO_RUN == asked
