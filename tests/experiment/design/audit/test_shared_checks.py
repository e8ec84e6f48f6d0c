"""Each promise about shared and given items, factors and blocks is broken once and found."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from experiment.design.audit.audit import audit
from experiment.design.audit.session_checks import shared_checks
from experiment.design.audit.sessions import compose_all
from experiment.design.frames import index_materials
from experiment.design.lists import BuiltLists, build_lists
from experiment.materials.read import load_items
from experiment.records import Kind, ListEntry
from experiment.studies.load import load_study
from tests.experiment.design.small_studies import DESIGNS

Lists = list[list[ListEntry]]


def swap_for_unused(lists: Lists, template: str) -> None:
    """Put the same item at the place of another in the first list."""
    own = [n for n, e in enumerate(lists[0]) if e.item.template == template]
    lists[0][own[0]] = lists[0][own[1]]


def exchange(lists: Lists, one: int, other: int, template: str) -> None:
    a, b = (
        next(n for n, e in enumerate(lists[list_]) if e.item.template == template)
        for list_ in (one, other)
    )
    lists[one][a], lists[other][b] = lists[other][b], lists[one][a]


def relabel(lists: Lists, template: str) -> None:
    at = next(n for n, e in enumerate(lists[0]) if e.item.template == template)
    lists[0][at] = replace(lists[0][at], kind=Kind.CATCH)


BREACHES: dict[str, tuple[str, Callable[[Lists], None], str]] = {
    "a shared item twice": (
        "latin_2x2_fillers",
        lambda lists: swap_for_unused(lists, "filler"),
        "the items shared of filler in each list",
    ),
    "a shared item's kind": (
        "latin_2x2_fillers",
        lambda lists: relabel(lists, "filler"),
        "kinds of items shared or given",
    ),
    "a shared item missing": (
        "norming",
        lambda lists: lists[0].pop(),
        "the items shared of attraction in each list",
    ),
    "conditions in other numbers": (
        "three_conditions_controls",
        lambda lists: swap_for_unused(lists, "control"),
        "the items shared of control in each list",
    ),
    "items of two lists exchanged": (
        "given_groups",
        lambda lists: exchange(lists, 0, 1, "attraction"),
        "the lists of attraction and filler",
    ),
    "an item of a given list missing": (
        "given_groups",
        lambda lists: lists[0].pop(0),
        "the lists of attraction and filler",
    ),
    "other items under another level": (
        "two_groups",
        lambda lists: exchange(lists, 0, 2, "attraction"),
        "lists that differ in levels alone",
    ),
}


def failed(name: str, spoil: Callable[[Lists], None] | None = None) -> set[str]:
    study = load_study(str(DESIGNS / name))
    items = list(load_items(study))
    built = build_lists(study, items, 1)
    lists = [list(entries) for entries in built.lists]
    if spoil is not None:
        spoil(lists)
    spoilt = replace(built, lists=tuple(map(tuple, lists)))
    return {each.name for each in audit(study, spoilt, items, order_seeds=0) if not each.passed}


@pytest.mark.parametrize("breach", BREACHES)
def test_a_broken_promise_fails_its_row(breach: str):
    name, spoil, row = BREACHES[breach]
    assert failed(name) == set()
    assert row in failed(name, spoil)


def test_an_item_of_one_level_in_a_list_of_another_is_found():
    def stray(lists: Lists) -> None:
        long = next(e for e in lists[1] if e.item.template == "long_filler")
        lists[0].append(long)

    assert "items of some levels alone" in failed("two_factors", stray)


def test_levels_that_are_not_the_design_s_are_found():
    study = load_study(str(DESIGNS / "two_groups"))
    items = list(load_items(study))
    built: BuiltLists = build_lists(study, items, 1)
    spoilt = replace(built, levels=built.levels[::-1])
    rows = {each.name: each for each in audit(study, spoilt, items, order_seeds=0)}
    assert not rows["factors' levels of the lists"].passed
    assert rows["participants"].found == "12 native, 8 learner"


def test_blocks_that_do_not_take_turns_are_found():
    study = load_study(str(DESIGNS / "counterbalanced_blocks"))
    items = list(load_items(study))
    built = build_lists(study, items, 1)
    fixed = study.design.order.model_copy(update={"blocks": "fixed"})
    unturned = study.model_copy(update={"design": study.design.model_copy(update={"order": fixed})})
    plain = compose_all(unturned, built).sessions
    index = index_materials(items)
    turned = compose_all(study, built).sessions
    name = "blocks that come first, over a list's places"
    for sessions, passed in ((turned, True), (plain, False)):
        rows = {row.name: row for row in shared_checks(study.design, index, built, sessions)}
        assert rows[name].passed is passed
