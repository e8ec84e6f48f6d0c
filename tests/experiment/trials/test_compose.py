"""From a list to the trials of one participant."""

from itertools import pairwise

import pytest

from experiment.design.lists import ListEntry
from experiment.errors import DesignError
from experiment.records import Item, Kind, Side
from experiment.trials.compose import catch_keys, compose


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


def trials(
    number: int = 1, place: int = 0, list_: int = 0, seed: int = 1, separate: str = "construction"
):
    return compose(ENTRIES, seed=seed, list_=list_, place=place, number=number, separate=separate)


def sides(number: int = 1, **where: int) -> dict[str, Side]:
    return {trial.item_id: trial.good_side for trial in trials(number, **where)}


def test_each_entry_is_shown_once_with_its_kind_in_the_list():
    shown = {trial.item_id: trial.kind for trial in trials()}
    assert shown == {entry.item.item_id: entry.kind for entry in ENTRIES}
    assert [trial.position for trial in trials()] == list(range(1, 13))


def test_the_order_depends_on_the_participant_alone():
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
    shown = compose(entries, seed=1, list_=0, place=0, number=1, separate="template")
    assert len(shown) == 6
    with pytest.raises(DesignError, match='"same" has too many trials'):
        compose(entries, seed=1, list_=0, place=0, number=1, separate="construction")


def test_catch_keys_are_what_catch_trials_carry():
    assert catch_keys(ENTRIES, "construction") == {"simple"}
    assert catch_keys(ENTRIES[4:], "construction") == set()
