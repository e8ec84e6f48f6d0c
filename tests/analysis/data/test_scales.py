"""The exclusion rules of one of a study's scales alone."""

import pytest

from analysis.data.scales import rules_of_scale
from experiment.exclusion.verdict import verdict
from experiment.studies.load import load_study
from experiment.studies.study import Rule
from tests.experiment.exclusion.answers import ratings

NAMED = {"rule": "same_side", "max_share": 0.8, "scale": "plausibility"}
OTHER = {"rule": "same_side", "max_run": 3, "scale": "acceptability"}
NONE = {"rule": "too_fast", "below_ms": 300, "max_share": 0.1}


@pytest.mark.parametrize("combined", [False, True])
def test_a_rule_that_names_the_scale_reads_its_points_where_it_stands_alone(combined):
    named = {"rule": "any", "rules": [NAMED, NONE]} if combined else NAMED
    rules = [Rule.model_validate(one) for one in (named, OTHER, NONE)]
    study = load_study("docs/examples/scales").model_copy(update={"exclusion": rules})
    found = rules_of_scale(study, "plausibility")
    assert [one.rule for one in found] == [named["rule"], "too_fast"]
    assert not verdict(found, ratings([(5, "good")] * 4)).kept
    assert verdict(found, ratings([(5, "good"), (2, "bad")] * 2)).kept
