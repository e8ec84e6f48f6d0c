"""The comparisons of whole studies: declared, or implied by the design."""

from dataclasses import replace
from pathlib import Path

import pytest

from experiment.comparisons.planned import PlannedComparison, planned_comparisons
from experiment.errors import StudyError
from experiment.materials.read import load_items
from experiment.studies.analysis_plan import Comparison
from experiment.studies.load import load_study

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"


def _planned(study: str, *declared: Comparison) -> list[PlannedComparison]:
    loaded = load_study(study).model_copy(update={"comparisons": list(declared)})
    return planned_comparisons(loaded, list(load_items(loaded)))


def _texts(planned: list[PlannedComparison], role: str = "primary") -> list[str]:
    return [entry.compared.text for entry in planned if entry.declaration.role == role]


def test_one_factor_is_compared() -> None:
    assert _texts(_planned(str(EXAMPLES / "sentence_pair"))) == ["condition: match - mismatch"]


def test_two_factors_have_main_effects_and_their_interaction() -> None:
    planned = _planned(str(EXAMPLES / "latin_square"))
    assert _texts(planned) == [
        "subject: sg - pl",
        "attractor: sg - pl",
        "subject: sg - pl x attractor: sg - pl",
    ]
    assert "attractor: sg - pl at subject = sg" in _texts(planned, "exploratory")


def test_factors_between_participants_cross_with_the_conditions() -> None:
    assert _texts(_planned(str(EXAMPLES / "between_participants"))) == [
        "condition: match - mismatch",
        "filler_length: short - long",
        "condition: match - mismatch x filler_length: short - long",
    ]


def test_versions_shown_alone_are_a_factor() -> None:
    [first, *_] = _planned(str(EXAMPLES / "yes_no"))
    assert (first.compared.text, first.measure) == ("version: expected - other", "yes")


def test_tasks_of_a_mixed_session_have_their_own_measures() -> None:
    planned = _planned(str(EXAMPLES / "mixed"))
    assert {entry.measure for entry in planned} == {"log_rt", "rating"}


def test_the_founding_study_compares_people_with_models() -> None:
    assert _texts(_planned("marvin_linzen_2018")) == ["people - models"]


def test_a_declaration_replaces_what_the_design_implies() -> None:
    declared = Comparison(name="attraction", compare="attractor at subject = sg", role="primary")
    [planned] = _planned(str(EXAMPLES / "latin_square"), declared)
    assert planned.compared.text == "attractor: sg - pl at subject = sg"
    assert planned.constructions == ("latin_square",)
    assert planned.is_declared


def test_a_declaration_pools_the_constructions_that_have_its_cells() -> None:
    declared = Comparison(name="nonce", compare="condition: original - nonce")
    [planned] = _planned("gulordava_2018_italian", declared)
    assert len(planned.constructions) == 4


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(StudyError, match=r"not a comparison of this study.*subject: sg, pl"):
        _planned(
            str(EXAMPLES / "latin_square"), Comparison(name="attraction", compare="subject: s - pl")
        )


def test_typed_answers_of_which_none_is_right_imply_no_comparison():
    study = load_study(str(EXAMPLES / "typed"))
    study = study.model_copy(update={"comparisons": []})
    items = list(load_items(study))
    names = [planned.measure for planned in planned_comparisons(study, items)]
    assert names == ["accuracy", "accuracy"]
    none_accepted = [replace(item, extra=()) for item in items]
    assert planned_comparisons(study, none_accepted) == []
