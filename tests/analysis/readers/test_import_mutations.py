"""Whatever is wrong with a file of judgments, nothing of it is lost or reversed silently."""

from collections import Counter

import pytest

from tests.analysis.readers import import_mutations


@pytest.mark.parametrize(
    "name",
    ["sides", *(pytest.param(name, marks=pytest.mark.campaign) for name in ("wide", "json_lines"))],
)
def test_no_spoilt_file_is_read_wrongly_without_a_word(name):
    found = list(import_mutations.outcomes([name]))
    assert [one for one in found if one.became == "SILENT"] == []
    counts = Counter(one.became for one in found)
    assert len(found) > 25
    assert counts["same"] > 10
    assert counts["refused"] > 10


def test_the_campaign_sees_what_is_lost(monkeypatch):
    monkeypatch.setattr(import_mutations, "check_accuracy", lambda _: None)
    monkeypatch.setattr(import_mutations, "check_key_assignment", lambda _: None)
    monkeypatch.setattr(import_mutations, "_said", lambda _: set())
    ways = ("nothing", "choices: keys of a quarter exchanged")
    only = {way: import_mutations.MUTATIONS[way] for way in ways}
    monkeypatch.setattr(import_mutations, "MUTATIONS", only)
    assert [one.became for one in import_mutations.outcomes(["versions"])] == ["same", "SILENT"]
