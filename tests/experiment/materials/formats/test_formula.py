"""SyntaxGym's formulas, with numbers checked by hand."""

import pytest

from experiment.errors import MaterialsError
from experiment.materials.formats.suite import parse_formula

# Surprisals of two regions in four conditions, in bits.
BITS = {
    ("a", 1): 1.0, ("a", 2): 5.0,
    ("b", 1): 1.0, ("b", 2): 7.5,
    ("c", 1): 2.0, ("c", 2): 4.0,
    ("d", 1): 2.0, ("d", 2): 4.0005,
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("(2;%a%) < (2;%b%)", True),  # 5 < 7.5
        ("(2;%a%) > (2;%b%)", False),
        ("(*;%a%) < (*;%c%)", False),  # 1 + 5 against 2 + 4
        ("(*;%a%) = (*;%c%)", True),
        ("(2;%c%) = (2;%d%)", True),  # 0.0005 bits apart: within the tolerance
        ("(2;%a%) = (2;%b%)", False),
        # A difference of differences over four conditions: 2.5 against 0.0005.
        ("((2;%b%) - (2;%a%)) > ((2;%d%) - (2;%c%))", True),
        ("[(2;%b%)-(2;%a%)]<[(2;%d%)-(2;%c%)]", False),
        # Three terms on one side, from the left: 7.5 - 5 - 2 = 0.5, and not 7.5 - (5 - 2) = 4.5.
        ("(2;%b%) - (2;%a%) - (1;%c%) < 1", True),
        ("(2;%b%) - ((2;%a%) - (1;%c%)) < 1", False),
        ("(2;%a%) - (2;%b%) = -2.5", True),
        ("((2;%a%) < (2;%b%)) & ((2;%c%) > (2;%d%))", False),
        ("((2;%a%) < (2;%b%)) | ((2;%c%) > (2;%d%))", True),
        # From the left, as the program that defines them reads it: (true | true) & false.
        ("(1;%a%) < 2 | (1;%a%) < 2 & (1;%a%) > 2", False),
        ("(1;%a%) < 2 | ((1;%a%) < 2 & (1;%a%) > 2)", True),
        ("( 2 ; %a% ) + 1e1 > 14.9", True),
    ],
)
def test_a_formula_is_true_or_false_as_computed_by_hand(text, holds):
    assert parse_formula(text, "here").holds(BITS) is holds


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is incomplete"),
        ("(2;%a%)", "comparison is missing"),
        ("(2;%a%) - (2;%b%)", "comparison is missing"),
        ("(1;%a%) < (1;%b%) < (1;%c%)", "two comparisons in a row"),
        ("((1;%a%) < (1;%b%)) < (1;%c%)", "a comparison is given where a surprisal is needed"),
        ("(1;%a%) & (1;%b%)", "comparison is missing"),
        ("(1;%a%) < ", "it is incomplete"),
        ("((1;%a%) < (1;%b%)", r'"\)" is missing at its end'),
        ("[(1;%a%) < (1;%b%))", r'"\]" is missing at "\)"'),
        ("(1;%a%) < (1;%b%) )", "nothing is allowed at"),
        ("(1;%a%) * 2 < 3", r'a formula cannot contain "\* 2 < 3"'),
        ("(1;%a%) < - (1;%b%)", "a sign without a number"),
        ("(x;%a%) < 1", r'a formula cannot contain "x;%a%\) < 1"'),
        ("< 1", "nothing is allowed at"),
    ],
)
def test_what_is_no_formula_is_refused_with_its_place(text, message):
    with pytest.raises(MaterialsError, match=message) as raised:
        parse_formula(text, "suite.json, prediction 1")
    assert "suite.json, prediction 1" in str(raised.value)


def test_a_formula_names_its_regions_once_each():
    formula = parse_formula("(2;%a%) < (2;%b%) & (*;%a%) < (2;%b%)", "here")
    named = [(region.condition, region.number) for region in formula.regions]
    assert named == [("a", 2), ("b", 2), ("a", None)]
