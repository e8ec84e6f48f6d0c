"""The study of Gulordava et al. (2018) runs as it is, on the general design."""

from collections import Counter
from pathlib import Path

import pytest

from experiment.design.audit.audit import audit
from experiment.design.lists import BuiltLists, build_lists
from experiment.errors import MaterialsError, StudyError
from experiment.exclusion.rules import load_rule
from experiment.materials.read import load_items
from experiment.records import Kind
from experiment.responses.responders import accuracy_of
from experiment.studies.load import load_study
from experiment.studies.published import read_published

STUDY = load_study("gulordava_2018_italian")


@pytest.fixture(scope="module")
def built() -> BuiltLists:
    return build_lists(STUDY, load_items(STUDY), 1)


def test_every_check_of_the_design_passes(built: BuiltLists):
    assert all(each.passed for each in audit(STUDY, built, order_seeds=300))


def test_everyone_sees_a_balanced_share_and_as_many_fillers_as_targets(built: BuiltLists):
    for entries in built.lists:
        targets = [entry.item for entry in entries if entry.kind is Kind.TARGET]
        assert len(entries) == 2 * len(targets)
        counts = Counter((item.construction, item.condition) for item in targets)
        assert sorted(counts.values()) == [1] * 4 + [9] * 4


def test_every_item_is_judged_at_least_five_times_when_an_eighth_is_excluded():
    assert STUDY.design.participants_per_list * 7 / 8 >= 5


def test_each_item_stands_in_one_list(built: BuiltLists):
    shown = Counter(entry.item.item_id for entries in built.lists for entry in entries)
    assert set(shown.values()) == {1}
    assert len(shown) == 1600


def test_the_rule_counts_controls_alone(built: BuiltLists):
    load_rule(STUDY.exclusion[0])
    controls = [entry.item for entry in built.lists[0] if entry.kind is Kind.CATCH]
    assert {item.construction for item in controls} == {"control"}
    assert len(controls) == 20


def test_simulated_people_are_as_accurate_as_those_of_table_3():
    accuracy = accuracy_of(read_published(STUDY))
    assert accuracy("R__NOUN_NOUN_VERB", "nonce") == 0.734
    assert all(accuracy(c.name, "original") for c in STUDY.constructions)


def test_speakers_are_asked_whether_italian_is_their_native_language():
    (question,) = [q for q in STUDY.questionnaire if q.name == "native_language"]
    assert question.required


def copied(folder: Path, old: str, new: str) -> Path:
    for path in STUDY.folder.rglob("*"):
        if path.is_file():
            copy = folder / path.relative_to(STUDY.folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text(encoding="utf-8")
            changed = text.replace(old, new) if path.name == "study.toml" else text
            copy.write_text(changed, encoding="utf-8")
    return folder


def test_items_of_an_unknown_construction_are_refused_by_name(tmp_path: Path):
    study = load_study(str(copied(tmp_path / "s", "L__DET_ADJ_NOUN", "L__DET_NOUN")))
    with pytest.raises(MaterialsError, match=r'"L__DET_ADJ_NOUN-0-0".*of study\.toml'):
        list(load_items(study))


def test_a_study_names_either_a_grammar_or_items(tmp_path: Path):
    both = copied(tmp_path / "s", "[materials]", '[materials]\ngrammar = "grammar.toml"')
    with pytest.raises(StudyError, match="either grammar or items"):
        load_study(str(both))
