"""What the rows on shared and given items and on blocks tell, word for word."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from experiment.design.audit.session_checks import shared_checks
from experiment.design.audit.sessions import Check, compose_all
from experiment.design.frames import index_materials
from experiment.design.lists import build_lists
from experiment.records import Item, ListEntry
from experiment.studies.study import Study
from tests.experiment.design.small_studies import NUMBERS, make_items, make_study

FILLERS = list(make_items("filler", {"N": 3}, NUMBERS))
NAMED = [
    replace(item, extra=(("list", str(1 + n % 2)),))
    for n, item in enumerate(make_items("own", {"N": 6}, ["plain"]))
]
Lists = list[list[ListEntry]]


def rows(
    study: Study, items: list[Item], spoil: Callable[[Lists], object] = lambda lists: None
) -> dict[str, Check]:
    built = build_lists(study, items, 1)
    sessions = compose_all(study, built).sessions
    lists = [list(entries) for entries in built.lists]
    spoil(lists)
    spoilt = replace(built, lists=tuple(map(tuple, lists)))
    found = shared_checks(study.design, index_materials(items), spoilt, sessions)
    return {each.name: each for each in found}


def sharing(n: int, **shared: object) -> Study:
    return make_study(
        [], lists=3, trials_per_list=n, separate="", shared=[{"templates": ["filler"], **shared}]
    )


SHARED = "the items shared of filler in each list"


@pytest.mark.parametrize(
    ("n", "shared"),
    [(6, {}), (4, {"items": 4}), (3, {"conditions": {"singular": 2, "plural": 1}})],
)
def test_as_many_items_as_asked_are_shared(n: int, shared: dict[str, object]):
    row = rows(sharing(n, **shared), FILLERS)[SHARED]
    assert (row.expected, row.passed) == (f"the same {n}", True)


def test_a_list_that_shares_less_or_something_twice_is_told():
    def lose(lists: Lists) -> None:
        lists[1].pop(0)

    def repeat(lists: Lists) -> None:
        lists[1][0] = lists[1][1]

    first = FILLERS[0].item_id
    told = f"list 1: other items, such as {first}"
    assert rows(sharing(6), FILLERS, lose)[SHARED].found == f"list 1: 5; {told}"
    assert rows(sharing(6), FILLERS, repeat)[SHARED].found == f"list 1: 6; {told}"


GIVEN = "the lists of own"
OWN = make_study([], lists=2, trials_per_list=3, separate="", given=[{"templates": ["own"]}])


def test_a_list_without_two_of_its_items_names_the_first():
    assert rows(OWN, NAMED)[GIVEN].passed

    def lose(lists: Lists) -> None:
        del lists[0][:2]

    ids = sorted(item.item_id for item in NAMED if dict(item.extra)["list"] == "1")
    assert rows(OWN, NAMED, lose)[GIVEN].found == f"list 0: not the items of 1, such as {ids[0]}"


BLOCKS = [{"templates": [name], "block": name} for name in ("one", "two")]
BOTH = [*make_items("one", {"N": 2}, NUMBERS), *make_items("two", {"M": 2}, NUMBERS)]
FIRST = "blocks that come first, over a list's places"


def in_blocks(squares: list[dict[str, object]] = BLOCKS, **order: object) -> Study:
    return make_study(
        squares, lists=2, trials_per_list=4, separate="", order=order,
        quotas=[{"participants_per_list": 3}],
    )  # fmt: skip


def test_of_three_places_one_block_comes_first_at_two():
    turning = in_blocks(blocks="counterbalanced")
    assert rows(turning, BOTH)[FIRST].passed
    fixed = in_blocks()
    built = build_lists(fixed, BOTH, 1)
    sessions = compose_all(fixed, built).sessions
    found = shared_checks(turning.design, index_materials(BOTH), built, sessions)
    told = {each.name: each.found for each in found}
    # The places of a session say which block is due, whatever it shows.
    assert told[FIRST] == "list 0: 3 one; list 1: 3 one"


def test_blocks_that_need_not_turn_have_no_row():
    assert FIRST not in rows(in_blocks(), BOTH)
    alone = in_blocks(blocks="counterbalanced", first_blocks=["two"])
    assert FIRST not in rows(alone, BOTH)
