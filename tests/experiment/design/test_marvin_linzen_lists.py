"""The ten lists of Marvin & Linzen (2018), on their real materials."""

from collections import Counter

import pytest

from experiment.design.audit.audit import audit
from experiment.design.lists import BuiltLists, build_lists
from experiment.design.session import compose
from experiment.materials.read import load_items
from experiment.records import Item, Kind, Side, lemmas_of
from experiment.studies.load import load_study
from experiment.studies.study import Study


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study("marvin_linzen_2018")


@pytest.fixture(scope="module")
def items(study: Study) -> list[Item]:
    return list(load_items(study))


@pytest.fixture(scope="module")
def built(study: Study, items: list[Item]) -> BuiltLists:
    return build_lists(study, items, 2018)


def test_ten_lists_of_76_pass_every_check(study: Study, items: list[Item], built: BuiltLists):
    assert [len(entries) for entries in built.lists] == [76] * 10
    assert [each for each in audit(study, built, items, order_seeds=300) if not each.passed] == []


def test_a_list_has_66_conditions_once_and_ten_simple_agreement_pairs(built: BuiltLists):
    for entries in built.lists:
        counts = Counter((entry.item.construction, entry.item.condition) for entry in entries)
        assert sorted(counts.values()) == [1] * 66 + [5, 5]
        assert {cell for cell, n in counts.items() if n == 5} == {
            ("simple_agreement", "singular"),
            ("simple_agreement", "plural"),
        }


def test_nine_of_the_ten_simple_agreement_pairs_are_catch_trials(built: BuiltLists):
    targets_among = []
    for entries in built.lists:
        catch = [entry for entry in entries if entry.kind is Kind.CATCH]
        assert {entry.item.construction for entry in catch} == {"simple_agreement"}
        assert len(catch) == 9
        targets_among += [
            entry.item.condition
            for entry in entries
            if entry.item.construction == "simple_agreement" and entry.kind is Kind.TARGET
        ]
    assert Counter(targets_among) == {"singular": 5, "plural": 5}


def test_no_two_templates_with_the_same_words_share_subject_and_relative_clause(built: BuiltLists):
    animate = (
        "obj_rel_across_anim",
        "obj_rel_no_comp_across_anim",
        "obj_rel_within_anim",
        "obj_rel_no_comp_within_anim",
        "reflexives_across",
        "npi_across_anim",
    )
    items = [e.item for entries in built.lists for e in entries if e.item.template in animate]
    frames = {(item.template, item.frame) for item in items}
    choices = [tuple(lemmas_of(frame)[slot] for slot in ("MS", "ES", "EV")) for _, frame in frames]
    assert len(choices) == len(set(choices)) == 55


def test_polarity_conditions_pool_five_animate_and_five_inanimate_frames(built: BuiltLists):
    frames = {(e.item.template, e.item.frame) for entries in built.lists for e in entries}
    shares = Counter(template for template, _ in frames)
    assert {
        shares[f"{name}_{kind}"]
        for name in ("simple_npi", "npi_across")
        for kind in ("anim", "inanim")
    } == {5}


def test_a_participant_sees_good_first_in_38_trials_and_5_of_simple_agreement(
    study: Study, built: BuiltLists
):
    for place in range(10):
        entries = built.lists[3]
        trials = compose(
            entries, seed=2018, list_=3, place=place, number=place + 1, design=study.design
        )
        simple = {e.item.item_id for e in entries if e.item.construction == "simple_agreement"}
        first = [trial for trial in trials if trial.good_side is Side.FIRST]
        assert len(first) == 38
        assert sum(trial.item_id in simple for trial in first) == 5
