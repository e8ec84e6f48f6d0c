"""A model that types a word into each gap, by hand."""

from dataclasses import replace
from datetime import UTC, datetime
from math import log

import pytest

from analysis.takers.export import Taker, make_rows
from analysis.takers.plan import Factors, Plan, make_plan
from analysis.takers.source import Source
from analysis.takers.taking import take_sessions
from experiment.authoring.check import require_sound
from experiment.errors import ParallaxError, StudyError
from experiment.records import Kind, ListEntry, Trial
from experiment.studies.load import load_study
from experiment.takers.prompt import Context
from experiment.takers.session import Screens
from lm.answering.answerer import Reply
from tests.analysis.takers.sessions import EXAMPLES

NOW = datetime(2026, 11, 30, tzinfo=UTC)
WORDS = ("tree", "Monday morning", "sky")
# Of the two words that are one word.
LOGPROBS = {"tree": log(0.6), "sky": log(0.2)}


def planned(n_sessions: int, *, sampled: bool) -> Plan:
    study = load_study(str(EXAMPLES / "typed"))
    source = Source(study, require_sound(study, 1).built)
    return make_plan(
        source, ["completion"], Factors((Context.ZERO_SHOT,), (), (False,)), n_sessions, str,
        sampled=sampled, complete=lambda before, after: (before, after, WORDS),
    )  # fmt: skip


def taken(plan: Plan):
    return take_sessions(
        plan,
        plan.readings[0],
        lambda questions: [Reply(tuple(LOGPROBS[w] for w in q.answers)) for q in questions],
    )


def test_a_model_types_one_of_its_words_that_people_could_type() -> None:
    """Of .6 and .2, three quarters are for tree, the accepted word of the first frame."""
    plan = planned(2, sampled=False)
    sittings = taken(plan)
    rows = make_rows(plan, sittings, Taker("toy", "a text", "x", "text", NOW))
    [asked] = {row["answers"] for row in rows["asked"]}
    assert asked == '["tree", "sky"]'
    [typed] = {row["typed"] for row in rows["responses"]}
    assert typed == "tree"
    by_item = {row["item_id"]: row for row in rows["responses"]}
    assert by_item["typed-1-strong"]["chose_good"] is True
    assert by_item["typed-3-weak"]["chose_good"] is False
    p_good = {row["item_id"]: row["p_good"] for row in rows["readings"]}
    assert p_good["typed-1-strong"] == pytest.approx(0.75)
    assert p_good["typed-3-weak"] == 0
    # "... of black ___ at his desk": of a whole text's probability there is no part of 1.
    mass = {row["item_id"]: row["mass"] for row in rows["readings"]}
    assert mass["typed-5-strong"] is None


def test_sampled_words_have_their_probabilities() -> None:
    sittings = taken(planned(40, sampled=True))
    typed = [read.given.details["text"] for sitting in sittings for read in sitting.read]
    # 400 draws with .75: four standard errors are .087.
    assert len(typed) == 400
    assert typed.count("tree") / 400 == pytest.approx(0.75, abs=0.087)


def test_a_model_that_says_nothing_types_nothing() -> None:
    plan = planned(1, sampled=False)
    nothing = [Reply((None, None))] * 10
    [sitting] = take_sessions(plan, plan.readings[0], lambda _: nothing)
    assert {(read.given, read.outcome) for read in sitting.read} == {(None, "unreadable")}


def test_without_a_model_on_this_machine_the_reading_is_named() -> None:
    study = load_study(str(EXAMPLES / "typed"))
    source = Source(study, require_sound(study, 1).built)
    factors = Factors((Context.ZERO_SHOT,), (), (False,))
    with pytest.raises(ParallaxError, match=r"can type words into gaps \(the reading completion\)"):
        make_plan(source, ["completion"], factors, 1, str)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Name a bird.", "has no gap, so that no model can type"),
        ("A ___ saw a ___.", "has several gaps or a picture, so that no model"),
        ("天上有___。", "has no spaces, so that no model marks"),
    ],
)
def test_texts_that_no_model_can_complete_are_refused(text: str, message: str) -> None:
    study = load_study(str(EXAMPLES / "typed"))
    entry = require_sound(study, 1).built.lists[0][0]
    screens = Screens(study, str, str, lambda before, after: (before, after, WORDS))
    trial = Trial(1, entry.item.item_id, Kind.TARGET, None, ("good",))
    changed = ListEntry(replace(entry.item, good=text, context=""), Kind.TARGET)
    with pytest.raises(StudyError, match=message):
        screens.trial(trial, changed)
