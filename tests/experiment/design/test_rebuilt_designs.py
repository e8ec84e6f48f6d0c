"""Designs that the field uses again and again, compared list by list and item by item."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from experiment.authoring.check import check_folder
from experiment.authoring.show import describe
from experiment.commands.lists import read_lists, write_lists
from experiment.design.lists import BuiltLists, build_lists
from experiment.design.session import compose, session_number
from experiment.materials.read import load_items
from experiment.records import Kind
from experiment.studies.load import load_study
from experiment.studies.study import Study
from tests.experiment.design.small_studies import DESIGNS

AGREEMENT = ("sg_sg", "sg_pl", "pl_sg", "pl_pl")
ATTRACTOR = ("sg_sg", "sg_pl")


class Structure(NamedTuple):
    """What a published design prescribes.

    Attributes:
        lists: How many lists there are in all.
        trials: How many trials each has.
        squares: Template to its conditions in the order of the rotation, and its items.
        shared: Template to how many of its items every list has.
        places: How many participants there are in all.
    """

    lists: int
    trials: int
    squares: dict[str, tuple[tuple[str, ...], int]]
    shared: dict[str, int]
    places: int


PUBLISHED = {
    "latin_2x2_fillers": Structure(4, 48, {"attraction": (AGREEMENT, 16)}, {"filler": 32}, 16),
    "agreement_24_items": Structure(4, 24, {"attraction": (AGREEMENT, 24)}, {}, 24),
    "two_groups": Structure(4, 16, {"attraction": (ATTRACTOR, 8)}, {"filler": 8}, 20),
    "given_groups": Structure(
        2, 24, {"attraction": (("match", "mismatch"), 12)}, {"filler": 12}, 8
    ),
    "practice_then_blocks": Structure(
        2,
        20,
        {"attraction": (ATTRACTOR, 8), "adverb": (("often", "rarely"), 8)},
        {"practice": 4},
        8,
    ),
    "catch_every_ten": Structure(
        2, 40, {"attraction": (ATTRACTOR, 12)}, {"filler": 24, "catch": 4}, 8
    ),
    "three_conditions_controls": Structure(
        3, 24, {"distance": (("none", "pp", "rc"), 12)}, {"control": 12}, 12
    ),
    "counterbalanced_blocks": Structure(
        2, 16, {"attraction": (ATTRACTOR, 8), "adverb": (("often", "rarely"), 8)}, {}, 8
    ),
    "norming": Structure(1, 24, {}, {"attraction": 24}, 10),
    "minimal_pairs_sample": Structure(
        1, 18, {}, {"subject_number": 6, "subject_person": 6, "subject_gender": 6}, 4
    ),
    "two_factors": Structure(8, 12, {"attraction": (ATTRACTOR, 8)}, {}, 16),
}


def built(name: str, seed: int = 1) -> tuple[Study, BuiltLists]:
    study = load_study(str(DESIGNS / name))
    return study, build_lists(study, load_items(study), seed)


def sessions(study: Study, lists: BuiltLists, list_: int) -> list[list[str]]:
    """Return the templates, trial by trial, of every place of a list."""
    template = {e.item.item_id: e.item.template for e in lists.lists[list_]}
    return [
        [
            template[trial.item_id]
            for trial in compose(
                lists.lists[list_],
                seed=lists.seed,
                list_=list_,
                place=place,
                number=session_number(study.design, list_, place),
                design=study.design,
            )
        ]
        for place in range(study.design.places(list_))
    ]


def test_every_folder_is_compared():
    assert {path.name for path in DESIGNS.iterdir()} == PUBLISHED.keys()


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_lists_are_the_published_ones_item_by_item(name: str, seed: int):
    expected, (study, lists) = PUBLISHED[name], built(name, seed)
    assert [len(entries) for entries in lists.lists] == [expected.trials] * expected.lists
    assert study.design.n_places == expected.places
    n_combinations = len(study.design.combinations)
    for template, (conditions, n_items) in expected.squares.items():
        for combination in range(n_combinations):
            own = lists.lists[combination::n_combinations]
            rows: dict[str, list[str]] = {}
            for entries in own:
                shown = [e.item for e in entries if e.item.template == template]
                assert len({item.frame for item in shown}) == len(shown) == n_items
                for item in shown:
                    rows.setdefault(item.frame, []).append(item.condition)
            # An item goes through the conditions from list to list; equally many begin with each.
            n = len(conditions)
            rotations = {tuple(conditions[(i - j) % n] for j in range(n)) for i in range(n)}
            assert Counter(map(tuple, rows.values())) == dict.fromkeys(rotations, n_items // n)
    for template, number in expected.shared.items():
        each = [
            {e.item.item_id for e in entries if e.item.template == template}
            for entries in lists.lists
        ]
        assert [len(ids) for ids in each] == [number] * expected.lists
        assert all(ids == each[0] for ids in each)


@pytest.mark.parametrize("name", PUBLISHED)
def test_each_launches_and_is_told(name: str):
    report = check_folder(str(DESIGNS / name), 1)
    # Groups that differ in who takes part, and in nothing that they read, are named as such.
    said = [str(error) for error in report.errors + report.notes]
    assert [one for one in said if "changes nothing" not in one] == []
    assert len(said) == (name in ("two_groups", "two_factors"))
    assert report.study is not None
    assert report.built is not None
    description = "\n".join(describe(report.study, report.built))
    assert f"{PUBLISHED[name].places} participants in all" in description
    assert f"{PUBLISHED[name].trials} trials" in description


@pytest.mark.parametrize("name", PUBLISHED)
def test_written_lists_are_read_as_they_were(name: str, tmp_path: Path):
    _, lists = built(name)
    write_lists(lists, tmp_path / "lists")
    assert read_lists(tmp_path / "lists") == lists


def test_two_fillers_to_a_target_stand_between_targets_and_at_the_beginning():
    study, lists = built("latin_2x2_fillers")
    for templates in sessions(study, lists, 0):
        assert templates[:2] == ["filler", "filler"]
        neighbours = pairwise(templates)
        assert ("attraction", "attraction") not in neighbours


def test_given_lists_have_exactly_the_rows_of_their_group():
    _, lists = built("given_groups")
    for group, entries in zip("AB", lists.lists, strict=True):
        targets = [e.item for e in entries if e.kind is Kind.TARGET]
        assert {dict(item.extra)["group"] for item in targets} == {group}
        odd = "match" if group == "A" else "mismatch"
        for item in targets:
            number = int(item.frame.removeprefix("item="))
            assert (item.condition == odd) == (number % 2 == 1)


def test_practice_comes_first_and_each_block_whole():
    study, lists = built("practice_then_blocks")
    for templates in sessions(study, lists, 1):
        assert templates == ["practice"] * 4 + ["attraction"] * 8 + ["adverb"] * 8


def test_each_stretch_of_ten_trials_has_a_catch_trial():
    study, lists = built("catch_every_ten")
    for templates in sessions(study, lists, 0):
        stretches = [templates[start : start + 10] for start in range(0, 40, 10)]
        assert [stretch.count("catch") for stretch in stretches] == [1, 1, 1, 1]


def test_half_of_a_list_begins_with_the_other_block():
    study, lists = built("counterbalanced_blocks")
    for list_ in range(2):
        first = Counter(templates[0] for templates in sessions(study, lists, list_))
        assert first == {"attraction": 2, "adverb": 2}


def test_controls_have_their_numbers_of_each_condition():
    _, lists = built("three_conditions_controls")
    for entries in lists.lists:
        counts = Counter(e.item.condition for e in entries if e.item.template == "control")
        assert counts == {"easy": 8, "hard": 4}


def test_norming_parts_the_conditions_of_an_item():
    study, lists = built("norming")
    assert len({e.item.item_id for e in lists.lists[0]}) == 24
    assert {len(each) for each in sessions(study, lists, 0)} == {24}


def test_two_crossed_factors_give_each_combination_all_lists():
    study, lists = built("two_factors")
    counts = Counter(tuple(levels.values()) for levels in lists.levels)
    moods, types = study.design.factors.values()
    assert counts == {(mood, type_): 2 for mood in moods for type_ in types}
    for levels, entries in zip(lists.levels, lists.lists, strict=True):
        own = {"short": "filler", "long": "long_filler"}[levels["filler_type"]]
        assert {e.item.template for e in entries} == {"attraction", own}


def test_the_smaller_group_has_fewer_places():
    study, lists = built("two_groups")
    places = Counter[str]()
    for list_, levels in enumerate(lists.levels):
        places[levels["group"]] += study.design.places(list_)
    assert places == {"native": 12, "learner": 8}
