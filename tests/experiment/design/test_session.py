"""From a list to the trials of one participant."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from experiment.design.ordering.constraints import catch_keys
from experiment.design.session import compose
from experiment.errors import DesignError
from experiment.records import Item, Kind, ListEntry, Side
from experiment.studies.design import Design


def entry(
    number: int, construction: str, kind: Kind = Kind.TARGET, template: str = ""
) -> ListEntry:
    item = Item(
        item_id=f"{construction}-{number}",
        kind=Kind.TARGET,
        construction=construction,
        condition="one",
        template=template or construction,
        features="",
        frame=f"N={number}",
        context="",
        good=f"good {number}",
        bad=f"bad {number}",
    )
    return ListEntry(item, kind)


ENTRIES = [
    entry(0, "simple"),
    *(entry(number, "simple", Kind.CATCH) for number in range(1, 4)),
    *(entry(number, "across") for number in range(4)),
    *(entry(number, "within") for number in range(4)),
]
CONSTRUCTIONS = {entry.item.item_id: entry.item.construction for entry in ENTRIES}


def design(squares: Sequence[dict[str, object]] = (), **keys: object) -> Design:
    return Design.model_validate(
        {
            "lists": 1,
            "participants_per_list": 4,
            "trials_per_list": 12,
            "squares": squares or [{"templates": ["simple", "across", "within"]}],
            **keys,
        }
    )


def trials(
    number: int = 1, place: int = 0, list_: int = 0, seed: int = 1, separate: str = "construction"
):
    return compose(
        ENTRIES,
        seed=seed,
        list_=list_,
        place=place,
        number=number,
        design=design(separate=separate),
    )


def sides(number: int = 1, **where: int) -> dict[str, Side]:
    return {trial.item_id: trial.good_side for trial in trials(number, **where)}


def test_each_entry_is_shown_once_with_its_kind_in_the_list():
    shown = {trial.item_id: trial.kind for trial in trials()}
    assert shown == {entry.item.item_id: entry.kind for entry in ENTRIES}
    assert [trial.position for trial in trials()] == list(range(1, 13))


def test_the_order_depends_on_the_number_of_the_session_alone():
    order = [trial.item_id for trial in trials(number=1)]
    assert [trial.item_id for trial in trials(number=1, place=3, list_=2)] == order
    assert [trial.item_id for trial in trials(number=2)] != order


def test_the_sides_depend_on_the_place_alone():
    assert sides(number=1, place=2) == sides(number=9, place=2)
    assert sides(place=2) != sides(place=4)
    assert sides(place=2, list_=0) != sides(place=2, list_=1)


def test_places_2j_and_2j_plus_1_have_opposite_sides():
    even, odd = sides(place=4), sides(place=5)
    assert all(even[item_id] is not odd[item_id] for item_id in even)


def test_the_seed_decides_order_and_sides():
    assert trials(seed=1) == trials(seed=1)
    assert sides(seed=1) != sides(seed=2)
    assert [t.item_id for t in trials(seed=1)] != [t.item_id for t in trials(seed=2)]


@pytest.mark.parametrize("number", range(20))
def test_neighbours_differ_in_construction(number: int):
    shown = [CONSTRUCTIONS[trial.item_id] for trial in trials(number)]
    assert all(a != b for a, b in pairwise(shown))


@pytest.mark.parametrize("separate", ["construction", "template", ""])
def test_one_trial_of_the_catch_construction_comes_in_each_quarter(separate: str):
    for number in range(20):
        shown = [CONSTRUCTIONS[trial.item_id] for trial in trials(number, separate=separate)]
        assert [shown[start : start + 3].count("simple") for start in (0, 3, 6, 9)] == [1] * 4


def test_templates_of_one_construction_may_be_neighbours_when_templates_are_kept_apart():
    entries = [entry(n, "same", template=f"template{n % 2}") for n in range(6)]
    shown = compose(entries, seed=1, list_=0, place=0, number=1, design=design(separate="template"))
    assert len(shown) == 6
    with pytest.raises(DesignError, match='"same" has too many trials'):
        compose(entries, seed=1, list_=0, place=0, number=1, design=design(separate="construction"))


def test_catch_keys_are_what_catch_trials_carry():
    assert catch_keys(ENTRIES, "construction") == {"simple"}
    assert catch_keys(ENTRIES[4:], "construction") == set()


def shown_with(number: int, entries: Sequence[ListEntry] = ENTRIES, place: int = 0, **keys: object):
    by_id = {each.item.item_id: each for each in entries}
    trials = compose(entries, seed=1, list_=0, place=place, number=number, design=design(**keys))
    return [by_id[trial.item_id] for trial in trials]


def as_filler(each: ListEntry) -> ListEntry:
    return ListEntry(replace(each.item, kind=Kind.FILLER), Kind.FILLER)


WITH_FILLERS = [
    *(entry(number, "across") for number in range(4)),
    *(as_filler(entry(number, f"filler{number % 3}")) for number in range(8)),
]


@pytest.mark.parametrize("number", range(10))
def test_declared_constraints_hold_in_every_order(number: int):
    shown = shown_with(
        number,
        WITH_FILLERS,
        separate=["construction", "frame"],
        order={"targets_apart": True, "first_fillers": 2, "in_a_row": {"kind": 3}},
    )
    kinds = [each.kind for each in shown]
    assert kinds[:2] == [Kind.FILLER, Kind.FILLER]
    assert all(Kind.FILLER in pair for pair in pairwise(kinds))
    assert all(len({*kinds[start : start + 4]}) > 1 for start in range(len(kinds) - 3))
    assert all(a.item.construction != b.item.construction for a, b in pairwise(shown))
    assert all(a.item.frame != b.item.frame for a, b in pairwise(shown))


@pytest.mark.parametrize("number", range(10))
def test_trials_that_share_a_slots_word_stand_as_far_apart_as_asked(number: int):
    shown = shown_with(number, separate="", order={"distance": {"N": 3}})
    words = [each.item.frame for each in shown]
    assert all(len(set(words[start : start + 3])) == 3 for start in range(len(words) - 2))


BLOCKS = [
    {"templates": ["across"], "block": "first"},
    {"templates": ["simple"], "block": "second"},
    {"templates": ["within"], "block": "first"},
]


@pytest.mark.parametrize(("place", "begins"), [(0, "simple"), (1, "simple"), (2, "simple")])
def test_fixed_blocks_come_as_the_squares_list_them(place: int, begins: str):
    shown = shown_with(1, place=place, squares=BLOCKS, separate="")
    assert {each.item.template for each in shown[:8]} == {"across", "within"}
    assert {each.item.template for each in shown[8:]} == {begins}


def test_counterbalanced_blocks_take_turns_at_the_places():
    first = [
        shown_with(
            1, place=place, squares=BLOCKS, separate="", order={"blocks": "counterbalanced"}
        )[0]
        for place in range(4)
    ]
    assert [each.item.template == "simple" for each in first] == [False, True, False, True]


@pytest.mark.parametrize("number", range(20))
def test_the_ends_of_neighbouring_blocks_are_kept_apart(number: int):
    entries = [entry(n, f"c{n % 3}", template="one") for n in range(6)]
    entries += [entry(n + 6, f"c{n % 3}", template="two") for n in range(6)]
    squares = [{"templates": [name], "block": name} for name in ("one", "two")]
    shown = shown_with(number, entries, squares=squares)
    assert all(a.item.construction != b.item.construction for a, b in pairwise(shown))


@pytest.mark.parametrize("keys", [{"separate": "constructoin"}, {"order": {"distance": {"NN": 2}}}])
def test_an_unknown_column_answers_with_the_known_ones(keys: dict[str, object]):
    with pytest.raises(DesignError, match=r"no column .*one of: .*construction.*Did you mean"):
        shown_with(1, **keys)


def test_more_beginning_fillers_than_there_are_is_refused():
    with pytest.raises(DesignError, match=r"first 9 trials should be fillers, but .* has only 8"):
        shown_with(1, WITH_FILLERS, order={"first_fillers": 9})


@pytest.mark.parametrize("number", range(10))
def test_a_column_of_the_researchers_own_keeps_neighbours_apart(number: int):
    entries = [
        ListEntry(replace(e.item, extra=(("speaker", "ab"[n % 2]),)), e.kind)
        for n, e in enumerate(ENTRIES[4:])
    ]
    shown = shown_with(number, entries, separate="speaker")
    assert all(a.item.extra != b.item.extra for a, b in pairwise(shown))
