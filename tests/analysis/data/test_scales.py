"""The exclusion rules of one of a study's scales alone."""

from dataclasses import replace

import pytest

from analysis.data.scales import (
    find_scales,
    is_slider,
    rating_ends,
    select_rules_of_scale,
    select_scale,
)
from analysis.errors import AnalysisError
from experiment.exclusion.rules import verdict
from experiment.studies.load import load_study
from experiment.studies.study import Rule
from tests.analysis.rated_study import island_run
from tests.experiment.exclusion.answers import ratings

NAMED = {"rule": "same_side", "max_share": 0.8, "scale": "plausibility"}
OTHER = {"rule": "same_side", "max_run": 3, "scale": "acceptability"}
NONE = {"rule": "too_fast", "below_ms": 300, "max_share": 0.1}


@pytest.mark.parametrize("combined", [False, True])
def test_a_rule_that_names_the_scale_reads_its_points_where_it_stands_alone(combined):
    named = {"rule": "any", "rules": [NAMED, NONE]} if combined else NAMED
    rules = [Rule.model_validate(one) for one in (named, OTHER, NONE)]
    study = load_study("docs/examples/scales").model_copy(update={"exclusion": rules})
    found = select_rules_of_scale(study, "plausibility")
    assert [one.rule for one in found] == [named["rule"], "too_fast"]
    assert not verdict(found, ratings([(5, "good")] * 4)).kept
    assert verdict(found, ratings([(5, "good"), (2, "bad")] * 2)).kept


def test_responses_without_the_column_of_a_scale_are_refused():
    study = load_study("docs/examples/scales")
    run = replace(island_run(1, 4, 4), study=study)
    said = 'the responses lack the column "rating_plausibility". Expected a column for each scale'
    with pytest.raises(AnalysisError, match=said):
        select_scale(run, find_scales(study), "plausibility")


@pytest.mark.parametrize(
    ("response", "imported", "ends", "slides"),
    [("slider", None, (0, 100), True), ("rating", None, (1, 7), False),
     ("rating", (1.0, 9.0), (1, 9), True)],
)  # fmt: skip
def test_a_slider_and_imported_numbers_have_their_ends(response, imported, ends, slides):
    study = load_study("minimal").model_copy(update={"response": response})
    run = replace(island_run(1, 4, 4), study=study, rating_ends=imported)
    assert (rating_ends(run), is_slider(run)) == (ends, slides)
