"""When the mixed model is fitted, and to whose choices."""

from types import SimpleNamespace

import pandas as pd
import pytest

from analysis.findings import mixed_model

JUDGMENTS = pd.DataFrame(
    {"participant": ["a", "b"], "construction": "x", "chose_good": [True, False]}
)


@pytest.mark.parametrize(
    ("formula", "uses"),
    [
        (None, False),
        ("chose ~ model", False),
        ("chose ~ own_age + (1 | item)", True),
        ("chose ~ age + (1 | item)", True),
        ("chose ~ ages", False),
    ],
)
def test_a_formula_uses_a_participants_column_by_either_name(formula, uses):
    assert mixed_model._uses_columns(formula, ["own_age", "own_town"]) is uses


class FitError(Exception):
    """Raised in place of a fit."""


@pytest.mark.parametrize("n", [9, 10])
def test_ten_participants_and_items_are_enough_for_a_fit(n, monkeypatch):
    def fit(*_):
        raise FitError

    monkeypatch.setattr(mixed_model, "choice_rows", lambda *_: None)
    monkeypatch.setattr(mixed_model, "clusters", lambda _: pd.DataFrame([[10, n]]))
    monkeypatch.setattr(mixed_model, "fit", fit)
    data = SimpleNamespace(judgments=JUDGMENTS, decisions={})
    if n == 10:
        with pytest.raises(FitError):
            mixed_model.mixed_findings(data, None)
    else:
        [reason] = mixed_model.mixed_findings(data, None).left_out
        assert "fewer than 10 participants or items" in reason
