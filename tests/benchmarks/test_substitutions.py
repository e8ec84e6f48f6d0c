"""A model is scored again whatever of it is replaced; the long version is a benchmark."""

import pytest

from benchmarks import substitutions

# What is easily overlooked; the other kinds are in tests/analysis/commands/test_model_identity.py.
SHORT = {
    "weights under an old date": "again",
    "what a pointer points to": "again",
    "where a linked file leads": "again",
    "weights after a killed command": "again",
    "an adapter beside the weights": "refused",
}


def test_there_are_at_least_25_substitutions():
    assert len(substitutions.SUBSTITUTIONS) >= 25
    assert set(SHORT) <= set(substitutions.SUBSTITUTIONS)


@pytest.mark.filterwarnings("ignore")
def test_no_score_is_stale():
    found = {name: (became, why) for name, became, why in substitutions.outcomes(tuple(SHORT))}
    assert {name: became for name, (became, _) in found.items()} == SHORT, found


def test_a_file_that_is_left_as_it_was_would_be_called_stale(monkeypatch):
    monkeypatch.setattr("analysis.commands.scoring.model_identity", lambda _: "always the same")
    (found,) = substitutions.outcomes(["one matrix"])
    assert found[1] == "STALE"
