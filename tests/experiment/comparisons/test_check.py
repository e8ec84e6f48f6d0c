"""Mistakes in declared comparisons, each planted in an example study."""

import shutil
from pathlib import Path

import pytest
from pydantic import ValidationError

from experiment.comparisons.check import comparison_mistakes, label_mistakes
from experiment.materials.read import load_items
from experiment.responses.registry import response_class
from experiment.studies.analysis_plan import Comparison
from experiment.studies.load import load_study

SentencePair = response_class("sentence_pair")

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"


def _mistakes(study: str, *declared: dict[str, object]) -> list[str]:
    loaded = load_study(str(EXAMPLES / study)).model_copy(
        update={"comparisons": [Comparison.model_validate(keys) for keys in declared]}
    )
    found = comparison_mistakes(loaded, list(load_items(loaded)))
    return [f"{number}: {error}" for number, error in found]


SUBJECT = {"name": "subject", "compare": "subject: sg - pl"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"compare": "subject: sg - plural"}, '"subject: sg - plural" is not a comparison of this'),
        ({"constructions": ["latin"]}, 'There is no construction "latin"'),
        ({"of": "rating"}, 'the answers have no measure "rating"'),
        ({"regions": [0]}, "regions are given for a comparison that is not of reading times"),
        ({"one_sided": True}, "the test is one-sided, but no direction is predicted"),
        ({"compare": "slope of subject"}, 'the column subject holds "sg"'),
        ({"covariates": ["frequency"]}, 'There is no covariate "frequency"'),
        (
            {"compare": "people - models", "covariates": ["trial_order"]},
            "covariates are not held constant in differences between people and models",
        ),
        ({"compare": "slope of frequency"}, 'There is no column of the items "frequency"'),
    ],
)
def test_a_mistake_is_named(changes: dict[str, object], message: str) -> None:
    mistakes = _mistakes("latin_square", SUBJECT | changes)
    assert any(message.lower() in mistake.lower() for mistake in mistakes), mistakes


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"subjekt": {"sg": "singular"}}, 'there is no factor "subjekt"'),
        ({"subject": {"sing": "singular"}}, 'there is no level of subject "sing"'),
        ({"subject": {"sg": "pl"}}, '2 levels of subject are shown as "pl"'),
    ],
)
def test_labels_are_of_levels_that_the_design_has(
    labels: dict[str, dict[str, str]], message: str
) -> None:
    study = load_study(str(EXAMPLES / "latin_square"))
    items = list(load_items(study))

    def find_mistakes(declared: dict[str, dict[str, str]]) -> list[str]:
        plan = study.analysis.model_copy(update={"labels": declared})
        return [*map(str, label_mistakes(study.model_copy(update={"analysis": plan}), items))]

    [mistake] = find_mistakes(labels)
    assert mistake.startswith(message), mistake
    assert find_mistakes({"subject": {"sg": "singular"}}) == []


def test_two_comparisons_of_one_name_are_refused() -> None:
    [mistake] = _mistakes("latin_square", SUBJECT, SUBJECT)
    assert mistake.startswith('1: two comparisons are called "subject"')


def test_sound_comparisons_have_no_mistakes() -> None:
    slope = {"name": "models", "compare": "people - models", "role": "exploratory"}
    assert _mistakes("latin_square", SUBJECT | {"covariates": ["trial_order"]}, slope) == []
    assert (
        _mistakes("self_paced", {"name": "comma", "compare": "condition: ambiguous - comma"}) == []
    )


def test_answers_without_a_measure_cannot_be_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SentencePair, "gives", frozenset())
    [mistake] = _mistakes("latin_square", SUBJECT)
    assert "no answers to these items can be compared" in mistake


@pytest.mark.parametrize(
    ("study", "declared", "message"),
    [
        ("yes_no", {"compare": "version"}, "no sentence expects no"),
        ("yes_no", {"compare": "slope of length"}, "d' is computed from many answers"),
        ("yes_no", {"compare": "people - models"}, "not compared by d_prime"),
    ],
)
def test_sensitivity_needs_sentences_of_both_kinds(study, declared, message):
    [mistake, *_] = _mistakes(study, {"name": "d", "of": "d_prime"} | declared)
    assert message in mistake


def test_sensitivity_pools_what_a_comparison_does_not_name():
    declared = {"name": "d", "compare": "condition: singular - plural", "of": "d_prime"}
    assert _mistakes("yes_no", declared) == []


def test_each_option_of_a_list_has_a_share():
    def declared(of: str) -> list[str]:
        study = load_study(str(EXAMPLES / "latin_square")).model_copy(
            update={
                "response": "option_list",
                "comparisons": [Comparison.model_validate(SUBJECT | {"of": of})],
            }
        )
        return [str(error) for _, error in comparison_mistakes(study, list(load_items(study)))]

    assert declared("share of bad") == []
    [mistake] = declared("share of ugly")
    assert "of = one of: accuracy, share of good, share of bad" in mistake
    with pytest.raises(ValidationError, match="share of and the name of an option; or"):
        declared("sharing")


def test_a_list_in_study_toml_is_read_as_regions(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "self_paced", tmp_path / "study")
    with (tmp_path / "study" / "study.toml").open("a", encoding="utf-8") as toml:
        toml.write('[[comparisons]]\nname = "spill"\ncompare = "condition"\nregions = [0, 1]\n')
    assert load_study(str(tmp_path / "study")).comparisons[-1].regions == (0, 1)
