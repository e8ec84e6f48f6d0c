"""The notation of comparisons, and the weights of cells worked out by hand."""

import pytest

from experiment.comparisons.contrast import Contrast, JudgeDifference, Slope, parse
from experiment.errors import StudyError

FACTORS = {"match": ("far", "near"), "number": ("sg", "pl"), "order": ("a - b", "c", "d")}
CELLS = {
    "far_sg": ("far", "sg"),
    "far_pl": ("far", "pl"),
    "near_sg": ("near", "sg"),
    "near_pl": ("near", "pl"),
}
CROSSED = {name: FACTORS[name] for name in ("match", "number")}


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("match", "match: far - near"),
        ("match:  near - far", "match: near - far"),
        ("match x number", "match: far - near x number: sg - pl"),
        ("match: far - near at number = pl", "match: far - near at number = pl"),
        ("order: a - b - mean(c, d)", "order: a - b - mean(c, d)"),
        ("order: c - a - b", "order: c - a - b"),
        ("match x number at order = c", "match: far - near x number: sg - pl at order = c"),
    ],
)
def test_a_contrast_is_written_out_in_full_and_read_again(text: str, canonical: str) -> None:
    contrast = parse(text, FACTORS)
    assert isinstance(contrast, Contrast)
    assert contrast.text == canonical
    assert parse(canonical, FACTORS) == contrast


def test_judges_and_slopes_are_read() -> None:
    assert parse("people - models", FACTORS) == JudgeDifference("people", "models")
    assert parse("gpt2 - my lstm", FACTORS) == JudgeDifference("gpt2", "my lstm")
    assert parse("slope of log frequency", FACTORS) == Slope("log frequency")


@pytest.mark.parametrize(
    "text",
    [
        "match: far - nera",
        "numbr x match",
        "match - number",
        "far - near",
        "match x match",
        "order",
    ],
)
def test_what_is_no_comparison_is_refused_with_the_factors(text: str) -> None:
    with pytest.raises(StudyError, match=r"not a comparison of this study.*match: far, near"):
        parse(text, FACTORS, "comparisons")


def test_a_misspelt_level_is_answered_with_the_nearest() -> None:
    with pytest.raises(StudyError, match='mean "near" instead of "nera"'):
        parse("match: far - nera", FACTORS)


@pytest.mark.parametrize(
    ("text", "weights"),
    [
        ("match", {"far_sg": 0.5, "far_pl": 0.5, "near_sg": -0.5, "near_pl": -0.5}),
        ("match at number = pl", {"far_pl": 1.0, "near_pl": -1.0}),
        ("match x number", {"far_sg": 1.0, "far_pl": -1.0, "near_sg": -1.0, "near_pl": 1.0}),
    ],
)
def test_cells_are_weighed(text: str, weights: dict[str, float]) -> None:
    contrast = parse(text, CROSSED)
    assert isinstance(contrast, Contrast)
    assert contrast.weights(CROSSED, CELLS) == weights


def test_a_contrast_without_one_of_its_cells_has_no_weights() -> None:
    contrast = parse("match x number", CROSSED)
    assert isinstance(contrast, Contrast)
    cells = {name: levels for name, levels in CELLS.items() if name != "near_pl"}
    assert contrast.weights(CROSSED, cells) == {}


def test_a_level_is_compared_with_the_mean_of_others() -> None:
    contrast = parse("order: a - b - mean(c, d)", {"order": FACTORS["order"]})
    assert isinstance(contrast, Contrast)
    cells = {level: (level,) for level in FACTORS["order"]}
    assert contrast.weights({"order": FACTORS["order"]}, cells) == {
        "a - b": 1.0,
        "c": -0.5,
        "d": -0.5,
    }
