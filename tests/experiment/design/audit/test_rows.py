"""What the audit's rows say: where something is broken, and what was asked."""

import re
from dataclasses import replace

from experiment.design.audit.audit import audit, drawing_checks, order_checks
from experiment.design.audit.session_checks import session_checks
from experiment.design.audit.sessions import Check, Composition, Session, compose_all
from experiment.design.lists import BuiltLists, build_lists
from experiment.records import Kind
from experiment.studies.study import Study
from tests.experiment.design.small_studies import (
    MIXED,
    MIXED_ITEMS,
    NUMBERS,
    make_items,
    make_study,
)

BUILT = build_lists(MIXED, MIXED_ITEMS, 1)
PAIRS = [*make_items("one", {"N": 4}, NUMBERS), *make_items("two", {"M": 4}, NUMBERS)]
FILLERS = [replace(item, kind=Kind.FILLER) for item in make_items("more", {"N": 4}, NUMBERS)]


def kept(study: Study, sessions: list[Session]) -> dict[str, Check]:
    return {each.name: each for each in order_checks(study, sessions)}


def small(**design: object) -> Study:
    squares = [{"templates": ["one"]}, {"templates": ["two"]}]
    return make_study(squares, lists=4, trials_per_list=4, **design)


def composed(study: Study, items=PAIRS) -> tuple[BuiltLists, Composition]:
    built = build_lists(study, items, 1)
    return built, compose_all(study, built)


def test_alike_neighbours_are_named_by_their_positions():
    session = compose_all(MIXED, BUILT).sessions[0]
    trials = sorted(session.trials, key=lambda t: session.entries[t.item_id].item.construction)
    found = kept(MIXED, [replace(session, trials=tuple(trials))])["neighbouring trials"].found
    # Two each of "across" and "within", two of "polarity", four of "simple": in this order.
    assert found.startswith(
        "list 0, place 0, positions 1 and 2: across; list 0, place 0, positions 3 and 4: polarity; "
        "list 0, place 0, positions 5 and 6: simple"
    )


def test_trials_that_lack_what_is_kept_apart_are_alike_to_nobody():
    study = small(separate="N")
    _, composition = composed(study)
    session = composition.sessions[0]
    last = tuple(sorted(session.trials, key=lambda trial: trial.item_id.startswith("two")))
    assert kept(study, [replace(session, trials=last)])["neighbouring trials"].passed


def test_where_nothing_is_asked_the_row_says_so():
    study = small(separate="")
    row = kept(study, composed(study)[1].sessions)["what the order must keep"]
    assert (row.expected, row.passed) == ("nothing", True)


def test_the_beginning_is_asked_of_the_first_block_alone():
    squares = [
        {"templates": ["more"], "block": "first"}, {"templates": ["one"], "block": "second"},
    ]  # fmt: skip
    study = make_study(squares, lists=4, trials_per_list=4, separate="", order={"first_fillers": 2})
    built, composition = composed(study, [*FILLERS, *PAIRS])
    row = kept(study, composition.sessions)["what the order must keep"]
    assert (row.expected, row.passed) == ("the first 2 trials are fillers", True)
    turned = [replace(each, trials=each.trials[::-1]) for each in composition.sessions]
    assert not kept(study, turned)["blocks of a session"].passed
    names = [each.name for each in drawing_checks(study, built, 10)]
    assert any("in block 2" in name for name in names)


def test_no_order_is_drawn_where_none_is_asked_for_or_no_list_is_there():
    assert list(drawing_checks(MIXED, BUILT, 0)) == []
    assert list(drawing_checks(MIXED, replace(BUILT, lists=()), 10)) == []


def test_lists_of_several_sizes_have_several_halves():
    study = small(separate="", quotas=[{"lists": [1], "participants_per_list": 16}])
    built, composition = composed(study)
    rows = {each.name: each for each in session_checks(study, built, composition)}
    assert rows["sessions composed"].expected == "28"
    row = rows["sessions with good first, for an item"]
    assert (row.expected, row.passed) == ("2, 8", True)


def test_positions_are_counted_from_one_without_a_gap():
    composition = compose_all(MIXED, BUILT)
    first, *others = composition.sessions
    moved = tuple(replace(trial, position=trial.position + 1) for trial in first.trials)
    broken = replace(composition, sessions=[replace(first, trials=moved), *others])
    rows = {each.name: each for each in session_checks(MIXED, BUILT, broken)}
    assert rows["trials of a session"].found == "list 0, place 0"


def test_a_word_that_is_used_too_often_is_named_with_what_would_be_better():
    lists = [list(entries) for entries in BUILT.lists]
    frames = sorted({e.item.frame for row in lists for e in row if e.item.template == "within"})
    noun, (_, *others) = frames[0].split()[0], frames[1].split()
    items = {(i.frame, i.condition): i for i in MIXED_ITEMS if i.template == "within"}
    for entries in lists:
        for index, entry in enumerate(entries):
            if entry.item.template == "within" and entry.item.frame == frames[1]:
                other = items[" ".join([noun, *others]), entry.item.condition]
                entries[index] = replace(entry, item=other)
    broken = replace(BUILT, lists=tuple(map(tuple, lists)))
    rows = {each.name: each for each in audit(MIXED, broken, MIXED_ITEMS, order_seeds=0)}
    found = rows["uses of a slot's words within a template"].found
    # Four frames of four nouns: one noun twice, one never; the other slots are even.
    told = re.fullmatch(r'within: N 2; "(.*)" for "(.*)" is better', found)
    assert told is not None
    shown = {e.item.frame for row in lists for e in row if e.item.template == "within"}
    assert [frame in shown for frame in told.groups()] == [False, True]
