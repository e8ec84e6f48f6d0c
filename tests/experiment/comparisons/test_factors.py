"""Factors found from conditions and columns."""

from experiment.comparisons.contrast import condition_factors


def _items(columns: dict[str, dict[str, str]]) -> list[tuple[str, dict[str, str]]]:
    """Return two items for each condition, with a column that differs within conditions."""
    return [
        (condition, {**values, "noun": noun})
        for condition, values in columns.items()
        for noun in ("dog", "cat")
    ]


def test_three_crossed_columns_are_three_factors() -> None:
    columns = {
        f"{a}{b}{c}": {"a": a, "b": b, "c": c, "both": a + b, "again": a.upper()}
        for a in "xy"
        for b in "pq"
        for c in "mn"
    }
    factors = condition_factors(_items(columns))
    assert list(factors) == ["a", "b", "c"]
    assert factors["b"]["xqm"] == "q"


def test_columns_that_do_not_cross_leave_the_condition_itself() -> None:
    columns = {"1": {"a": "x", "b": "p"}, "2": {"a": "y", "b": "p"}, "3": {"a": "y", "b": "q"}}
    assert condition_factors(_items(columns)) == {"condition": {"1": "1", "2": "2", "3": "3"}}


def test_named_columns_are_factors_even_if_cells_are_missing() -> None:
    columns = {"1": {"a": "x", "b": "p"}, "2": {"a": "y", "b": "p"}, "3": {"a": "y", "b": "q"}}
    assert list(condition_factors(_items(columns), ("b", "a"))) == ["b", "a"]


def test_a_column_that_varies_within_a_condition_is_no_factor() -> None:
    columns = {"1": {"a": "x"}, "2": {"a": "y"}}
    factors = condition_factors([*_items(columns), ("1", {"a": "z", "noun": "owl"})])
    assert list(factors) == ["condition"]
