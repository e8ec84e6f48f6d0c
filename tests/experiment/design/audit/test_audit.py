"""Every check of the design is caught when it is broken."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from experiment.design.audit.audit import audit, require_passed
from experiment.design.audit.sessions import check
from experiment.design.lists import BuiltLists, build_lists
from experiment.errors import DesignError
from experiment.records import Kind, ListEntry, Variant
from experiment.studies.study import Study
from tests.experiment.design.small_studies import MIXED, MIXED_ITEMS, make_study

BUILT = build_lists(MIXED, MIXED_ITEMS, 1)

Lists = list[list[ListEntry]]


def broken(built: BuiltLists, study: Study = MIXED) -> set[str]:
    checks = audit(study, built, MIXED_ITEMS, order_seeds=0)
    return {each.name for each in checks if not each.passed}


def change(mutate: Callable[[Lists], None]) -> BuiltLists:
    lists = [list(entries) for entries in BUILT.lists]
    mutate(lists)
    return replace(BUILT, lists=tuple(map(tuple, lists)))


def index_of(entries: list[ListEntry], template: str, condition: str = "") -> int:
    return next(
        index
        for index, entry in enumerate(entries)
        if entry.item.template == template and condition in ("", entry.item.condition)
    )


def change_item(entry: ListEntry, **changes: object) -> ListEntry:
    return replace(entry, item=replace(entry.item, **changes))


def test_built_lists_pass_every_check():
    assert [each.name for each in audit(MIXED, BUILT, MIXED_ITEMS) if not each.passed] == []


def drop_an_item(lists: Lists) -> None:
    lists[0].pop()


def drop_a_list(lists: Lists) -> None:
    lists.pop()


def add_a_list(lists: Lists) -> None:
    lists.append(lists[0])


def swap_items_between_lists(lists: Lists) -> None:
    at = index_of(lists[0], "across", "singular"), index_of(lists[1], "across", "singular")
    lists[0][at[0]], lists[1][at[1]] = lists[1][at[1]], lists[0][at[0]]


def swap_conditions_between_lists(lists: Lists) -> None:
    at = index_of(lists[0], "across", "singular"), index_of(lists[1], "across", "plural")
    lists[0][at[0]], lists[1][at[1]] = lists[1][at[1]], lists[0][at[0]]


def repeat_an_item(lists: Lists) -> None:
    lists[0].append(lists[0][index_of(lists[0], "across")])


def show_an_item_to_two_lists(lists: Lists) -> None:
    lists[0][index_of(lists[0], "across", "singular")] = lists[1][
        index_of(lists[1], "across", "singular")
    ]


def show_a_frame_in_both_conditions(lists: Lists) -> None:
    index = index_of(lists[0], "across", "singular")
    frame = lists[0][index].item.frame
    other = next(
        i
        for i in MIXED_ITEMS
        if i.template == "across" and i.frame == frame and i.condition == "plural"
    )
    lists[0][index_of(lists[0], "across", "plural")] = ListEntry(other, Kind.TARGET)


def make_a_catch_trial_a_target(lists: Lists) -> None:
    index = next(i for i, entry in enumerate(lists[0]) if entry.kind is Kind.CATCH)
    lists[0][index] = replace(lists[0][index], kind=Kind.TARGET)


def make_a_target_a_catch_trial(lists: Lists) -> None:
    index = index_of(lists[0], "across")
    lists[0][index] = replace(lists[0][index], kind=Kind.CATCH)


def make_a_target_a_filler(lists: Lists) -> None:
    index = index_of(lists[0], "across")
    lists[0][index] = replace(lists[0][index], kind=Kind.FILLER)


def let_one_condition_always_represent(lists: Lists) -> None:
    for entries in lists:
        for index, entry in enumerate(entries):
            if entry.item.template == "simple":
                entries[index] = replace(entry, kind=Kind.CATCH)
        chosen = index_of(entries, "simple", "singular")
        entries[chosen] = replace(entries[chosen], kind=Kind.TARGET)


def alter_a_text(lists: Lists) -> None:
    lists[0][0] = change_item(lists[0][0], good="something else")


def lose_the_alternative(lists: Lists) -> None:
    lists[0][0] = change_item(lists[0][0], bad="")


def equate_the_versions(lists: Lists) -> None:
    lists[0][0] = change_item(lists[0][0], bad=lists[0][0].item.good)


def judge_another_contrast(lists: Lists) -> None:
    lists[0][0] = change_item(lists[0][0], contrast=Variant.DISTRACTOR, distractor="a third")


def bring_in_a_stranger(lists: Lists) -> None:
    lists[0][0] = change_item(lists[0][0], template="unheard_of")


def replace_frame(lists: Lists, template: str, old: str, new: str) -> None:
    items = {(i.frame, i.condition): i for i in MIXED_ITEMS if i.template == template}
    for entries in lists:
        for index, entry in enumerate(entries):
            if entry.item.template == template and entry.item.frame == old:
                entries[index] = replace(entry, item=items[new, entry.item.condition])


def frames_of(lists: Lists, template: str) -> list[str]:
    entries = (entry for row in lists for entry in row)
    return sorted({e.item.frame for e in entries if e.item.template == template})


def use_one_noun_too_often(lists: Lists) -> None:
    first, second, *_ = frames_of(lists, "within")
    noun, (_, *others) = first.split()[0], second.split()
    replace_frame(lists, "within", second, " ".join([noun, *others]))


def use_a_choice_of_another_template(lists: Lists) -> None:
    theirs, ours = frames_of(lists, "across")[0], frames_of(lists, "within")[0]
    noun, other_noun, _ = theirs.split()
    replace_frame(lists, "within", ours, f"{noun} {other_noun} {ours.split()[2]}")


def pool_three_and_one(lists: Lists) -> None:
    frame = frames_of(lists, "lifeless")[0]
    items = [i for i in MIXED_ITEMS if i.template == "living"]
    unused = next(i.frame for i in items if i.frame not in frames_of(lists, "living"))
    by_condition = {i.condition: i for i in items if i.frame == unused}
    for entries in lists:
        for index, entry in enumerate(entries):
            if entry.item.template == "lifeless" and entry.item.frame == frame:
                entries[index] = replace(entry, item=by_condition[entry.item.condition])


@pytest.mark.parametrize(
    ("mutate", "check"),
    [
        (drop_a_list, "lists"),
        (add_a_list, "lists"),
        (drop_an_item, "trials in each list"),
        (bring_in_a_stranger, "trials in each list"),
        (swap_conditions_between_lists, "items in each list, by condition"),
        (swap_items_between_lists, "showings of one frame in one list"),
        (show_a_frame_in_both_conditions, "showings of one frame in one list"),
        (repeat_an_item, "showings of one frame in one list"),
        (show_an_item_to_two_lists, "lists that show one frame in one condition"),
        (make_a_catch_trial_a_target, "targets used as catch trials, in each list"),
        (make_a_target_a_catch_trial, "targets used as catch trials, in each list"),
        (make_a_target_a_filler, "kinds of the other items"),
        (let_one_condition_always_represent, "conditions next to catch trials, over the lists"),
        (alter_a_text, "items as the materials have them"),
        (lose_the_alternative, "versions in the judged contrast"),
        (equate_the_versions, "versions in the judged contrast"),
        (judge_another_contrast, "items as the materials have them"),
        (use_one_noun_too_often, "uses of a slot's words within a template"),
        (use_a_choice_of_another_template, "frames that share their slots' choice"),
        (pool_three_and_one, "frames of each square"),
    ],
)
def test_a_broken_list_is_caught(mutate: Callable[[Lists], None], check: str):
    assert check in broken(change(mutate))


def test_lists_of_another_study_version_or_materials_are_caught():
    assert broken(replace(BUILT, version="2")) == {"study and version"}
    assert broken(replace(BUILT, study="other")) == {"study and version"}
    assert broken(replace(BUILT, materials_hash="0" * 64)) == {"identity of the materials"}


def test_an_order_that_cannot_be_made_is_caught():
    study = make_study([{"templates": ["simple"]}], lists=4, trials_per_list=2)
    built = build_lists(study, MIXED_ITEMS, 1)
    assert broken(built, study) == {"sessions composed"}


def test_a_rule_that_cannot_be_applied_is_caught():
    for rule in (
        {"rule": "max_errors", "construction": "simpel", "max_errors": 1},
        {"rule": "max_errors", "construction": "simple", "max_errors": -1},
        {"rule": "max_error"},
    ):
        study = make_study(
            [{"templates": ["simple"]}],
            lists=4,
            trials_per_list=2,
            separate="",
            exclusion=[rule],
        )
        built = build_lists(study, MIXED_ITEMS, 1)
        assert broken(built, study) == {"a session without an error"}


def test_materials_that_allow_no_balance_are_not_held_against_the_lists():
    cats = [i for i in MIXED_ITEMS if i.template == "simple" and "N=n0 " in i.frame]
    dogs = [i for i in MIXED_ITEMS if i.template == "simple" and i.frame == "N=n1 V=v0"]
    study = make_study(
        [{"templates": ["simple"], "frames": 5}], lists=5, trials_per_list=2, separate=""
    )
    checks = audit(study, build_lists(study, [*cats, *dogs], 1), [*cats, *dogs])
    assert all(each.passed for each in checks)


def test_refusing_lists_every_failed_check():
    checks = [
        check("lists", "10", ["9"]),
        check("trials in each list", "76", []),
        check("kinds", "their own", ["a", "b", "c", "d", "e"]),
    ]
    require_passed(checks[1:2])
    with pytest.raises(DesignError, match="fail 2 of 3 checks") as caught:
        require_passed(checks)
    assert "lists (expected 10, found 9)" in str(caught.value)
    assert "found a; b; c and 2 more" in str(caught.value)
