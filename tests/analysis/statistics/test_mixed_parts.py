"""What a mixed model is made of: its rows, what varies, and what is left out, by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from analysis.errors import AnalysisError
from analysis.statistics import crossed
from analysis.statistics.laplace import RandomTerm as Crossed
from analysis.statistics.mixed_model_rows import (
    RandomTerm,
    bounded_rows,
    choice_rows,
    default_terms,
    design_levels,
    parse_formula,
    row_effects,
)
from analysis.statistics.mixed_model_rows import reorder_constructions as with_reference


def rows_of(*cells: tuple[str, str, list[int]]) -> pd.DataFrame:
    parts = [
        pd.DataFrame({"judge": judge, "construction": construction, "chose_good": right})
        for judge, construction, right in cells
    ]
    rows = pd.concat(parts, ignore_index=True).astype({"chose_good": float})
    return rows.assign(judge=pd.Categorical(rows["judge"], ["people", "m"]))


def test_choices_of_judges_who_are_always_right_or_wrong_are_not_bounded():
    rows = rows_of(
        ("people", "x", [1, 1]), ("people", "y", [0, 0]), ("people", "z", [0, 1]),
        ("m", "x", [0, 1]), ("m", "y", [1]), ("m", "z", [0, 1]),
    )  # fmt: skip
    # A model has no reference where people do not vary: x.
    assert bounded_rows(rows).tolist() == [*[False] * 4, True, True, *[False] * 3, True, True]
    ordered = with_reference(rows)["construction"]
    assert ordered.cat.categories.tolist() == ["z", "x", "y"]
    with pytest.raises(AnalysisError, match="always right, or always wrong"):
        with_reference(rows[rows["construction"] != "z"])


def test_a_construction_is_the_reference_in_the_order_of_the_design():
    rows = rows_of(("people", "b", [0, 1]), ("people", "a", [0, 1]), ("people", "c", [1, 1]))
    named = rows.assign(construction=pd.Categorical(rows["construction"], ["c", "b", "a", "d"]))
    assert design_levels(named["construction"]) == ["c", "b", "a"]
    assert with_reference(named)["construction"].cat.categories.tolist() == ["b", "c", "a"]


def test_choices_keep_models_to_the_judged_items_and_a_factor_to_people():
    judged = pd.DataFrame(
        {"participant": ["p", "p"], "list": 0, "position": [1, 2], "kind": "target",
         "good_side": "first", "rt_ms": 1.0, "chose_good": [True, False], "item_id": ["1", "2"],
         "construction": "x", "condition": "c", "own_size": [3, 4], "own_group": "old",
         "session": 1, "frame": [7, 8]}
    )  # fmt: skip
    model = pd.DataFrame({"item_id": ["2", "3"], "construction": "x", "condition": "c",
                          "correct": [True, True]})  # fmt: skip
    rows = choice_rows(judged, {"m": model}, ["own_group"])
    assert rows["item_id"].tolist() == ["1", "2", "2"]
    assert rows["construction"].tolist() == ["x"] * 3 and rows["condition"].tolist() == ["c"] * 3
    assert rows["own_size"].tolist() == [3, 4, 4] and rows["frame"].tolist() == [7, 8, 8]
    assert rows["own_group"].isna().tolist() == [False, False, True]
    assert rows["session"].notna().tolist() == [True, True, False]
    assert "session" not in choice_rows(judged.drop(columns="session"), {})


def test_slopes_of_nothing_are_left_out_and_intercepts_stay():
    columns = np.column_stack([np.ones(4), [2.0, -2, 2, 2], [8.0, 8, -8, 8]])
    term = Crossed(unit="person", effects=("1", "x", "y"), columns=columns,
                   level=np.arange(4), correlated=False)  # fmt: skip
    sds = {"person": [0.0, crossed.SINGULAR / 2, crossed.SINGULAR / 8.1], "item": [9.0, 9.0, 9.0]}
    random = pd.concat(
        [pd.DataFrame({"unit": unit, "sd": sd}) for unit, sd in sds.items()], ignore_index=True
    )
    found = crossed._drop_zero_variance_effects(term, SimpleNamespace(random=random))
    assert found.effects == ("1", "x")
    assert found.columns == pytest.approx(columns[:, :2])


def test_a_singular_model_loses_correlations_then_slopes(monkeypatch):
    def term(*names: str) -> Crossed:
        columns = np.ones((3, len(names)))
        return Crossed("person", np.arange(3), names, columns)

    def by_rule(singular_until: int, *terms: Crossed) -> tuple[list, str]:
        tried = []

        def fake(_answers: object, _fixed: object, given: list) -> SimpleNamespace:
            tried.append([(one.effects, one.correlated) for one in given])
            random = pd.DataFrame({"unit": "person", "sd": [1.0, 0.0][: len(given[0].effects)]})
            is_singular = len(tried) <= singular_until
            return SimpleNamespace(singular=is_singular, random=random, model=[*tried].copy)

        monkeypatch.setattr(crossed, "optimum", fake)
        model, said = crossed.fit_by_rule(np.ones(3), pd.DataFrame(), terms)
        # The errors are those of the last step.
        assert model == tried
        return tried, said

    both, one = ("1", "x"), ("1",)
    assert by_rule(0, term(*both)) == ([[(both, True)]], crossed.AS_DECLARED)
    steps = [[(both, True)], [(both, False)], [(one, False)]]
    assert by_rule(1, term(*both)) == (steps[:2], crossed.NO_CORRELATIONS)
    assert by_rule(2, term(*both)) == (steps, crossed.NO_SLOPES)
    # Where there are intercepts alone, nothing can be left out.
    assert by_rule(9, term(*one)) == ([[(one, True)]], crossed.AS_DECLARED)


def people_rows(participants: int, items: int, constructions: int = 2) -> pd.DataFrame:
    person, item = np.divmod(np.arange(participants * items), items)
    rows = pd.DataFrame({"judge": "people", "participant": person, "item_id": item})
    return rows.assign(construction=item % constructions, frame=item // 2)


def groups(rows: pd.DataFrame) -> list[str]:
    return [term.group for term in default_terms(rows)]


def test_what_usually_varies_is_what_the_design_repeats():
    both = "participant:construction"
    assert groups(people_rows(3, 4)) == ["participant", both, "frame", "item_id"]
    # Of three items of two constructions somebody judged 1.5 of each.
    assert groups(people_rows(3, 3)) == ["participant", "frame", "item_id"]
    assert groups(people_rows(3, 4, 1)) == ["participant", "frame", "item_id"]
    alone = people_rows(3, 4).assign(frame=lambda rows: rows["item_id"])
    assert groups(alone) == ["participant", both, "item_id"]
    assert groups(alone.drop(columns="frame")) == ["participant", both, "item_id"]


def test_levels_of_two_columns_are_their_combinations():
    rows = people_rows(3, 4).assign(judge=["people"] * 10 + ["m"] * 2)
    found = row_effects(
        rows, [RandomTerm("1", "participant:construction"), RandomTerm("1", "item_id")]
    )
    pairs = rows["participant"].astype(str) + rows["construction"].astype(str)
    assert found.groups[0].tolist() == pd.factorize(pairs)[0].tolist()
    assert found.groups[1].tolist() == [0, 1, 2, 3] * 3
    assert found.values.tolist() == [[1, 1]] * 10 + [[0, 1]] * 2
    assert found.names == ("participant:construction", "item_id")


def test_formulas_are_written_as_lme4_does():
    terms = parse_formula("a + (0 + 1 | item) + (1 | p) + (x || p)")[1]
    assert [str(one) for one in terms] == ["(0 + 1 | item_id)", "(1 | p)", "(x || p)"]
    assert [one.correlated for one in terms] == [True, False, False]
    assert parse_formula("+ (1 | item)") == ("1", (RandomTerm("1", "item_id"),))
    rows = people_rows(3, 4).assign(x=1.0)
    with pytest.raises(AnalysisError, match="cannot be used"):
        row_effects(rows, [RandomTerm("1 + nothing", "item_id")])
