"""Excluding whoever has a low score in a word test."""

import pytest

from tests.experiment.exclusion.answers import judged, session

# Two words, one of which is rejected, and two nonwords, both rejected: (50 + 100) / 2.
ANSWERS = session(right=(True, False, True, True), sides="fsss")


@pytest.mark.parametrize(("least", "kept"), [(75, True), (75.1, False)])
def test_a_score_at_the_limit_is_kept(least: float, kept: bool):
    verdict = judged(ANSWERS, "min_score", min_score=least)
    assert verdict.kept is kept
    assert verdict.evidence == f"a score of 75.0 on the 4 trials; at least {least:g} required"


def test_a_test_without_nonwords_excludes_nobody():
    verdict = judged(session(right=(True, False), sides="fs"), "min_score", min_score=100)
    assert verdict.kept
    assert verdict.evidence == "the trials do not expect yes in some and no in others"
