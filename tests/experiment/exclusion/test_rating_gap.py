"""Rules where sentences are rated: nothing counts as right or wrong."""

import pytest

from experiment.errors import StudyError
from tests.experiment.exclusion.answers import judged, ratings, session

APART = [(6, "good"), (2, "bad"), (5, "good"), (3, "bad")]


@pytest.mark.parametrize(("gap", "kept"), [(3.0, True), (3.1, False)])
def test_good_versions_must_lie_so_far_above_the_others(gap, kept):
    verdict = judged(ratings(APART), "rating_gap", min_gap=gap)
    assert verdict.kept is kept
    assert "+3.00 points" in verdict.evidence


def test_versions_that_were_not_both_rated_exclude_nobody():
    assert judged(ratings([(1, "good")]), "rating_gap", min_gap=2).kept


def test_choices_have_no_gap():
    with pytest.raises(StudyError, match="options are chosen"):
        judged(session(), "rating_gap", min_gap=1)


@pytest.mark.parametrize(
    ("rule", "parameters"),
    [
        ("max_errors", {"max_errors": 1}),
        ("max_error_rate", {"max_error_rate": 0.1}),
        ("outlier", {"measure": "accuracy"}),
    ],
)
def test_errors_cannot_be_counted_among_ratings(rule, parameters):
    with pytest.raises(StudyError, match="none of these answers is right or wrong"):
        judged(ratings(APART), rule, **parameters)


def test_one_point_of_the_scale_all_the_time_is_one_side():
    verdict = judged(ratings([(4, "good")] * 6), "same_side", max_run=5)
    assert not verdict.kept
    assert "point 4 of the scale" in verdict.evidence
