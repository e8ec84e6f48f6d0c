"""What the comparisons answer is not answered again in the report's tables of effects."""

from types import SimpleNamespace

import pandas as pd
import pytest

from analysis.findings.finding import Comparison
from analysis.report.answered_once import leave_out_answered
from analysis.tables.accuracy_table import Column, Table

_COLUMNS = tuple(Column(key, key, "text") for key in ("label", "points", "p", "p_holm", "in_z"))


def _left(name: str, contrasts: list[str], answered: list[str], **further: object) -> Table | None:
    """The table of these contrasts, once the comparisons have answered some of them."""
    frame = pd.DataFrame({"construction": "c", "contrast": contrasts, **further})
    table = Table(name, "Effects", "", frame, _COLUMNS, (), ())
    measure = "rating" if name == "rating_effects" else "accuracy"
    rows = pd.DataFrame(
        {"constructions": "c", "contrast": answered, "regions": "", "measure": measure}
    )
    if "region" in further:
        rows = rows.assign(measure="log_rt", regions="0")
    comparison = Comparison(
        SimpleNamespace(), SimpleNamespace(), frame, frame, (table,), (), {"comparisons": rows}
    )
    left = leave_out_answered(comparison).tables
    return left[0] if left else None


def test_answered_rows_are_left_out_and_the_rest_stays():
    left = _left("design_effects", ["a - b", "c - d"], ["c - d", ""])
    assert left.frame["contrast"].tolist() == ["a - b"]
    assert "the file tables/design_effects.csv has them too" in left.notes[-1]
    assert _left("design_effects", ["a - b"], ["a - b"]) is None


def test_of_reading_times_only_the_region_that_was_compared_is_left_out():
    left = _left("reading_effects", ["a - b", "a - b"], ["a - b"], region=[0, 1])
    assert left.frame["region"].tolist() == [1]


@pytest.mark.parametrize(
    ("answered", "keys"),
    [(["a - b", "c - d"], ["label", "in_z"]), (["a - b"], [one.key for one in _COLUMNS])],
)
def test_of_ratings_the_differences_in_standard_deviations_stay(answered, keys):
    left = _left("rating_effects", ["a - b", "c - d"], answered)
    assert [column.key for column in left.columns] == keys
