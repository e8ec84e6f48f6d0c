"""Whatever is wrong with a file of scores, nothing of it is lost or reversed silently."""

from collections import Counter

import pytest

from analysis.readers import matched_scores
from tests.analysis.readers import score_mutations


@pytest.mark.parametrize("name", ["pairs", "tokens_by_id", "spaced", "samples"])
def test_no_spoilt_file_is_read_wrongly_without_a_word(name):
    found = list(score_mutations.outcomes([name]))
    assert [one for one in found if one.became == "SILENT"] == []
    counts = Counter(one.became for one in found)
    assert len(found) > 20
    assert counts["same"] > 5
    assert counts["refused"] > 5


def test_the_campaign_sees_what_is_reversed(monkeypatch):
    monkeypatch.setattr(matched_scores, "_refuse_contradiction", lambda *_: None)
    ways = ("nothing", "versions: exchanged")
    only = {way: score_mutations.MUTATIONS[way] for way in ways}
    monkeypatch.setattr(score_mutations, "MUTATIONS", only)
    monkeypatch.setattr(score_mutations, "OF_TEXT", {})
    assert [one.became for one in score_mutations.outcomes(["pairs"])] == ["same", "SILENT"]
