"""Rules that read points where each trial has several scales."""

from dataclasses import replace

import pytest

from experiment.records import Side
from experiment.responses.base import Arrangement, GivenAnswer
from experiment.responses.rating.rating import Scales
from tests.experiment.exclusion.answers import judged, ratings

# Everybody's sentences are plausible; the acceptable ones are rated above the others.
CAREFUL = [(6, 5), (2, 5), (5, 5), (3, 5)]
STRAIGHT = [(4, 5)] * 4
RULES = {"same_side": {"max_share": 0.8}, "rating_gap": {"min_gap": 2}}


def _session(points):
    versions = ["good", "bad"] * 2
    alone = ratings([(first, one) for (first, _), one in zip(points, versions, strict=True)])
    both = [tuple(zip(("acceptability", "plausibility"), one, strict=True)) for one in points]
    return [replace(one, ratings=two) for one, two in zip(alone, both, strict=True)]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("points", "scale", "kept"),
    [
        (CAREFUL, {}, True),
        (STRAIGHT, {}, False),
        (CAREFUL, {"scale": "acceptability"}, True),
        (CAREFUL, {"scale": "plausibility"}, False),
        ([(b, a) for a, b in CAREFUL], {}, True),
        ([(b, a) for a, b in CAREFUL], {"scale": "acceptability"}, False),
    ],
)
def test_who_fails_on_every_scale_is_excluded_or_on_the_one_named(rule, points, scale, kept):
    verdict = judged(_session(points), rule, **RULES[rule], **scale)
    assert verdict.kept is kept
    named = scale.get("scale", "acceptability, plausibility")
    told = [part.partition(": ")[0] for part in verdict.evidence.split("; ") if ":" in part]
    assert kept or ", ".join(one for one in told if one in named) == named


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("of_several", [True, False])
def test_a_scale_that_no_judgment_has_excludes_nobody(rule, of_several):
    seen = _session(STRAIGHT)
    if not of_several:
        seen = [replace(one, ratings=()) for one in seen]
    assert not judged(seen, rule, **RULES[rule]).kept
    assert judged(seen, rule, **RULES[rule], scale="naturalness").kept


def test_an_answer_has_the_point_of_each_scale():
    scales = Scales.model_validate(
        {"scales": {"a": {"question": "A?"}, "b": {"question": "B?", "points": 5}}}
    )
    found = scales.score_answer(Arrangement(Side.FIRST, ("good",), 7), GivenAnswer(rating=73))
    assert found.rating == 7
    assert found.ratings == (("a", 7), ("b", 3))
