"""What [analysis] names must be there: a typo in it would be found after the data."""

import pytest

from experiment.authoring.check import check_study
from experiment.studies.load import load_study
from experiment.studies.study import Study
from tests.experiment.design.small_studies import DESIGNS


def errors(**plan: object) -> str:
    study: Study = load_study(str(DESIGNS / "two_groups"))
    declared = study.analysis.model_copy(update=plan)
    report = check_study(study.model_copy(update={"analysis": declared}), 1)
    return "\n".join(map(str, report.errors))


@pytest.mark.parametrize("key", ["factors", "covariates", "repeats"])
def test_a_name_that_the_study_does_not_have_is_refused_with_its_key(key):
    value = "grup" if key == "repeats" else ("grup",)
    said = errors(**{key: value})
    assert "grup" in said
    assert f"analysis.{key}" in said or "[analysis]" in said or key in said


def test_factors_between_participants_may_be_named():
    assert errors(factors=("group",)) == ""


def test_an_answer_that_is_erased_is_no_covariate():
    study = load_study("minimal")
    asked = (study.questionnaire[0].name,)
    changes = {
        "analysis": study.analysis.model_copy(update={"covariates": asked}),
        "privacy": study.privacy.model_copy(update={"identifying_questions": asked}),
    }
    [error] = check_study(study.model_copy(update=changes), 1).errors
    assert "identify people, so they are erased and cannot be a covariate" in str(error)
    assert error.where.endswith("analysis.covariates")
