"""What a seed decides is the same in this version and in the next: lists, sides, orders."""

import hashlib
import json
import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest

from experiment.commands.lists import write_lists
from experiment.design.counterbalancing import arrangements, option_orders, target_positions
from experiment.design.frames import Frame, index_materials
from experiment.design.latin_square import FrameOrderer, choose_targets
from experiment.design.lists import build_lists, list_sort_key, shared_items
from experiment.design.ordering.constraints import MinDistance, Spread
from experiment.design.ordering.order import draw_order
from experiment.errors import DesignError
from experiment.records import SIDES, Item, Kind, ListEntry
from experiment.responses.base import Arrangement
from experiment.responses.rating.rating import Rating
from experiment.studies.design import Shared
from tests.experiment.design.small_studies import MIXED, MIXED_ITEMS, NUMBERS, make_items

ITEMS = list(make_items("a", {"N": 4}, NUMBERS))
ENTRIES = [ListEntry(item, Kind.TARGET) for item in ITEMS]


def test_a_seed_gives_the_lists_that_it_always_gave():
    built = [build_lists(MIXED, MIXED_ITEMS, seed).lists for seed in range(10)]
    text = json.dumps([[[(e.item.item_id, e.kind) for e in list_] for list_ in lists]
                       for lists in built])  # fmt: skip
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "6f14952475057d22"


def test_a_seed_gives_the_sides_that_it_always_gave():
    sides = [target_positions("aabbc", 1, 0, place) for place in range(4)]
    assert ["".join(str(1 + SIDES.index(side)) for side in each) for each in sides] == [
        "21122",
        "12211",
        "12211",
        "21122",
    ]


def test_a_seed_gives_the_options_that_it_always_gave():
    versions = [("g", "x", "y")] * 4
    found = [option_orders(versions, "aabb", 1, 0, place) for place in range(3)]
    assert ["".join(order[0] for order in each) for each in found] == ["ygxg", "gxyy", "xygx"]
    # At the next place, each option of an item stands one place further on.
    for here, following in pairwise(found):
        assert [(last, *others) for *others, last in here] == following


PINNED: dict[str, tuple[str, str, list[int]]] = {
    "growing groups": ("abbcccdddd", "", [2, 7, 4, 8, 1, 9, 0, 5, 6, 3]),
    "a spread group between alike neighbours": ("aaaabbbsss", "s", [8, 1, 5, 2, 7, 3, 6, 0, 4, 9]),
}


@pytest.mark.parametrize("case", PINNED)
def test_a_seed_gives_the_order_that_it_always_gave(case: str):
    labels, spread, expected = PINNED[case]
    asked = [MinDistance("letter", tuple(labels))]
    own = [Spread(key, frozenset(n for n, each in enumerate(labels) if each == key))
           for key in spread]  # fmt: skip
    assert draw_order(len(labels), [*asked, *own], random.Random(7)) == expected


def test_targets_of_a_list_go_on_where_the_list_before_it_ended():
    conditions = [0, 1, 2]
    assert [choose_targets(conditions, 3, 1, list_) for list_ in range(3)] == [
        {0, 1},
        {0, 2},
        {1, 2},
    ]


def test_a_square_is_numbered_so_that_squared_counts_grow_least(monkeypatch: pytest.MonkeyPatch):
    frames = [Frame("t", f"{n}", {"N": "ab"[n // 2]}) for n in range(4)]
    # List 0 has the numbers 0 and 2, list 1 has 1 and 3: the last numbering alone parts each pair.
    orders = [*[[0, 2, 1, 3]] * 29, [1, 0, 3, 2]]
    told = iter([[frames[n] for n in order] for order in orders])
    monkeypatch.setattr("experiment.design.latin_square._shuffle_frames", lambda *_: next(told))
    numbered = FrameOrderer(2).order([frames], 1, random.Random(1))
    assert [frame.text for frame in numbered] == list("1032")


@pytest.mark.parametrize(
    ("met", "coming", "grows"),
    # (3 + 2)^2 - 3^2, 2^2, and (1 + 1)^2 - 1^2.
    [("aaa", "aa", 16), ("", "aa", 4), ("ab", "b", 3)],
)
def test_what_the_sum_of_squared_counts_grows_by(met: str, coming: str, grows: int):
    def of(words: str) -> list[Frame]:
        return [Frame("t", f"{n}", {"N": word}) for n, word in enumerate(words)]

    orderer = FrameOrderer(1)
    if met:
        orderer.order([of(met)], 1, random.Random(1))
    assert orderer._count_repetitions(of(coming), 1) == grows


def test_of_two_versions_the_good_one_is_shown_in_half_of_the_trials():
    shown = [
        [each.options for each in arrangements(ENTRIES, Rating(), seed=1, list_=0, place=place)]
        for place in (0, 1)
    ]
    for here, there in zip(*shown, strict=True):
        assert {*here, *there} == {"good", "bad"}
        assert len(here) == len(there) == 1
    assert sum(each == ("good",) for each in shown[0]) == len(ENTRIES) / 2
    alone = [ListEntry(replace(item, bad=""), Kind.TARGET) for item in ITEMS]
    found = arrangements(alone, Rating(), seed=1, list_=0, place=1)
    assert [each.options for each in found] == [("good",)] * len(alone)


class Drawn(Rating):
    """Puts what is drawn for a participant in the place of the points."""

    def drawn(
        self, item: Item, arranged: Arrangement, draw: Callable[[], random.Random], *,
        mirrored: bool,
    ) -> Arrangement:  # fmt: skip
        number = draw().getrandbits(32)
        return replace(arranged, points=-number if mirrored else number)


def test_two_neighbouring_places_draw_the_same_and_the_second_one_mirrors_it():
    drawn = [
        [each.points for each in arrangements(ENTRIES, Drawn(), seed=1, list_=0, place=place)]
        for place in range(8)
    ]
    for here, there in zip(drawn[::2], drawn[1::2], strict=True):
        assert here == [-number for number in there]
    assert len({tuple(each) for each in drawn}) == 8


def test_a_description_is_written_line_by_line(tmp_path):
    built = build_lists(MIXED, MIXED_ITEMS, 1)
    write_lists(built, tmp_path)
    assert (tmp_path / "design.json").read_text().splitlines()[:3] == [
        "{", '  "study": "small",', '  "version": "1",',
    ]  # fmt: skip


INDEX = index_materials(ITEMS)


def test_shared_items_come_in_the_order_of_the_materials():
    assert shared_items(Shared(templates=["a"]), INDEX, 1) == ITEMS
    some = shared_items(Shared(templates=["a"], items=3), INDEX, 1)
    assert len(some) == 3 and some == [item for item in ITEMS if item in some]
    named = Shared(templates=["a"], conditions={"plural": 2, "singular": 1})
    kept = shared_items(named, INDEX, 1)
    assert sorted(item.condition for item in kept) == ["plural", "plural", "singular"]
    assert kept == [item for item in ITEMS if item in kept]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"items": 9}, "9 items are asked for, but the materials have 8"),
        ({"conditions": {"plural": 5}}, "5 items are asked for in the condition plural, but"),
        ({"conditions": {"dual": 1}}, 'no condition "dual"'),
    ],
)
def test_more_shared_items_than_there_are_are_refused(asked: dict[str, object], told: str):
    with pytest.raises(DesignError, match=told):
        shared_items(Shared(templates=["a"], **asked), INDEX, 1)


def test_lists_are_sorted_by_size_and_then_by_letters():
    assert sorted(["b", "10", "a", "9"], key=list_sort_key) == ["9", "10", "a", "b"]
