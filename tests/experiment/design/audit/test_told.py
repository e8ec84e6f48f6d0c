"""What rows of the audit tell of sessions and lists that are written down trial by trial."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace

import pytest

from experiment.design.audit.audit import _describe_constraints, drawing_checks
from experiment.design.audit.list_checks import (
    _describe_contrast,
    _describe_most_repeated,
    _describe_word_use,
    _list_word_pairs,
    option_checks,
)
from experiment.design.audit.session_checks import _find_uneven_sides, _make_correct_judgments
from experiment.design.audit.sessions import Composition, Session
from experiment.design.frames import Frame
from experiment.design.lists import BuiltLists
from experiment.records import SIDES, Item, Kind, ListEntry, Trial, Variant
from experiment.responses.choice.choice import SentencePair
from experiment.responses.rating.rating import Rating
from tests.experiment.design.small_studies import make_items, make_study

PLAIN = next(make_items("a", {"N": 1}, ["plain"]))
FREE = make_study([{"templates": ["a"]}], lists=2, trials_per_list=2, separate="").design


def entry(item_id: str, kind: Kind = Kind.TARGET, **changes: object) -> ListEntry:
    return ListEntry(replace(PLAIN, item_id=item_id, **changes), kind)


def session(
    *trials: tuple[ListEntry, Sequence[str]], place: int = 0, points: int | None = None
) -> Session:
    """Return a session whose trials show these versions, in this order."""
    shown = tuple(
        Trial(
            position, one.item.item_id, one.kind,
            SIDES[versions.index("good")] if "good" in versions else None,
            tuple(versions), points,
        )
        for position, (one, versions) in enumerate(trials, start=1)
    )  # fmt: skip
    return Session(0, place, shown, {one.item.item_id: one for one, _ in trials})


def of_three(*places: int) -> Session:
    """Return a session of one construction, with the good one of three options at these places."""
    orders = [["x", "y"] for _ in places]
    for order, place in zip(orders, places, strict=True):
        order.insert(place, "good")
    return session(*((entry(f"i{n}"), order) for n, order in enumerate(orders)))


@pytest.mark.parametrize(
    ("places", "passed"),
    [((0, 1, 2, 0), True), ((0, 1), True), ((0, 1, 2, 0, 0), False), ((0, 0), False)],
)
def test_the_good_one_of_three_stands_once_more_in_a_place_at_most(
    places: tuple[int, ...], passed: bool
):
    in_sessions, _ = option_checks([of_three(*places)])
    assert (in_sessions.passed, in_sessions.found == "list 0, place 0: a") == (passed, not passed)


def test_over_three_places_each_option_stands_once_in_each():
    orders = [["good", "x", "y"], ["x", "y", "good"], ["y", "good", "x"]]
    one = entry("i")
    turned = [session((one, order), place=place) for place, order in enumerate(orders)]
    # Three neighbouring places make a turn; the fourth begins another.
    four = [*turned, session((one, orders[0]), place=3)]
    assert [each.passed for each in option_checks(four)] == [True, True]
    twice = [session((one, orders[place // 2]), place=place) for place in range(3)]
    _, over_places = option_checks(twice)
    assert over_places.found == "list 0: i, good; list 0: i, x; list 0: i, y"


def test_versions_that_are_not_half_and_half_are_counted():
    shown = ["good"] * 3 + ["bad"]
    trials = [(entry(f"i{n}"), [version]) for n, version in enumerate(shown)]
    assert list(_find_uneven_sides([session(*trials)])) == ["list 0, place 0: 3 of 4"]
    assert list(_find_uneven_sides([session(*trials[1:])])) == []


def test_what_is_asked_is_that_of_the_first_session():
    def catching(name: str) -> Session:
        return session((entry("i", Kind.CATCH, construction=name), ["good", "bad"]))

    assert _describe_constraints([catching("a"), catching("b")], FREE) == (
        "the 1 trials of a come one per stretch"
    )


def test_orders_are_drawn_of_the_first_list():
    entries = [entry(f"i{n}") for n in range(5)]
    built = BuiltLists("s", "1", 1, "0", (tuple(entries[:2]), tuple(entries[2:])))
    study = make_study([{"templates": ["a"]}], lists=2, trials_per_list=2, separate="")
    assert next(iter(drawing_checks(study, built, 20))).expected == "1.5"


def frame(noun: str, verb: str) -> Frame:
    return Frame("a", f"N={noun} V={verb}", {"N": noun, "V": verb})


def test_the_slot_whose_words_differ_most_is_told():
    known = [frame(noun, verb) for noun in "ab" for verb in "xy"]
    # Of the nouns, a three times and b once; of the verbs, each twice.
    chosen = [frame("a", "x"), frame("a", "y"), frame("a", "x"), frame("b", "y")]
    told = _describe_word_use({"a": known}, {"a": chosen})
    assert told == "1 to 3 frames in the most uneven slot (N)"
    assert _describe_word_use({}, {}) == "none"


def test_two_words_meet_whichever_slots_they_fill():
    items = [replace(PLAIN, frame=text) for text in ("A=x B=y", "A=y B=x", "A=x B=z")]
    assert _describe_most_repeated([items[2:], items[:2]], _list_word_pairs) == "2 (x + y, list 1)"


def test_contrasts_are_told_by_name():
    for n in range(20):
        first, second = (
            entry(f"{n}{name}", construction=f"{n}{name}", contrast=contrast)
            for name, contrast in (("x", Variant.DISTRACTOR), ("y", Variant.BAD))
        )
        third = entry(f"{n}z", construction=f"{n}z")
        built = BuiltLists("s", "1", 1, "0", ((first, second), (third,)))
        assert _describe_contrast(built) == "bad (2 constructions), distractor (1 constructions)"


def test_the_trials_of_a_task_are_looked_at_without_its_name():
    mixed = session((entry("i"), ["pair", "good", "bad"]), (entry("j"), ["rate", "good"]))
    types = {"pair": SentencePair(), "rate": Rating()}
    both = Composition(SimpleNamespace(types=types), [mixed])  # type: ignore[arg-type]
    found = {
        task: [(trial.item_id, trial.options) for one in own.sessions for trial in one.trials]
        for task, own in both.by_task()
    }
    assert found == {"pair": [("i", ("good", "bad"))], "rate": [("j", ("good",))]}


def test_whoever_makes_no_error_rates_single_sentences_now_high_now_low():
    def ratings(*items: Item) -> list[int | None]:
        trials = [(ListEntry(item, Kind.TARGET), ["good"]) for item in items]
        return [
            each.rating for each in _make_correct_judgments(session(*trials, points=7), Rating())
        ]

    alone = [replace(PLAIN, item_id=f"i{n}", bad="") for n in range(3)]
    other = [replace(each, item_id=f"j{n}", condition="other") for n, each in enumerate(alone)]
    # In a cell in turn; each further cell begins with the other end of the scale.
    assert ratings(*alone, *other) == [7, 1, 7, 1, 7, 1]
    assert ratings(*(replace(each, bad="bad") for each in alone)) == [7, 7, 7]
