import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.statistics.mixed_model_rows import (
    RandomTerm,
    default_terms,
    parse_formula,
    row_effects,
)
from tests.analysis.known_choices import known_choices


@pytest.mark.parametrize(
    ("formula", "fixed", "random"),
    [
        ("judge * construction", "judge * construction", []),
        ("judge + (1 | item)", "judge", ["(1 | item_id)"]),
        ("(1 + x || participant) + judge", "judge", ["(1 + x || participant)"]),
        ("x + (1+x||participant) + (1|participant:construction)", "x",
         ["(1 + x || participant)", "(1 | participant:construction)"]),
        ("x + (0 + x | item)", "x", ["(0 + x | item_id)"]),
        ("x + (1 + x | participant)", "x", ["(1 + x | participant)"]),
        ("x + (x | participant)", "x", ["(x | participant)"]),
        ("(1 | item)", "1", ["(1 | item_id)"]),
    ],
)  # fmt: skip
def test_random_effects_are_read_as_lme4_writes_them(formula, fixed, random):
    found = parse_formula(formula)
    assert found[0] == fixed
    assert [str(term) for term in found[1]] == random


def test_one_bar_correlates_two_effects_of_a_group_and_two_bars_none():
    rows = known_choices(np.random.default_rng(1)).assign(x=2.0)
    found = [
        row_effects(rows, parse_formula(f"x + (1 | item) + {term}")[1]).pairs
        for term in ("(1 + x | participant)", "(x | participant)", "(1 + x || participant)",
                     "(0 + x | participant)", "(0 + construction | participant)")
    ]  # fmt: skip
    assert found == [((1, 2),), ((1, 2),), (), (), ((1, 2),)]


def test_more_than_one_correlation_of_a_group_is_refused_with_what_to_write_instead():
    rows = known_choices(np.random.default_rng(1)).assign(x=2.0, y=3.0)
    with pytest.raises(AnalysisError, match=r'Write "\(1 \+ x \+ y \|\| participant\)"'):
        row_effects(rows, parse_formula("x + (1 + x + y | participant)")[1])


def test_participants_effects_are_of_people_alone_and_items_of_all():
    rows = known_choices(np.random.default_rng(1)).assign(x=2.0)
    found = row_effects(rows, [RandomTerm("1 + x", "participant"), RandomTerm("1", "item_id")])
    assert found.names == ("participant", "participant, x", "item_id")
    of_people = rows["judge"] == "people"
    assert (found.values[of_people] == [1.0, 2.0, 1.0]).all()
    assert (found.values[~of_people] == [0.0, 0.0, 1.0]).all()


def test_constructions_vary_between_participants_where_somebody_judged_several_items_of_each():
    rows = known_choices(np.random.default_rng(1))
    groups = [term.group for term in default_terms(rows)]
    assert groups == ["participant", "participant:construction", "item_id"]
    once = rows.drop_duplicates(["participant", "construction"])
    assert [term.group for term in default_terms(once)] == ["participant", "item_id"]


@pytest.mark.parametrize("term", [RandomTerm("1", "school"), RandomTerm("1 + speed", "item_id")])
def test_a_column_that_is_not_there_is_named(term):
    with pytest.raises(AnalysisError, match=r"names school, which the choices do not have|speed"):
        row_effects(known_choices(np.random.default_rng(1)), [term])
