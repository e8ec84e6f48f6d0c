"""Building lists of any shape."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiment.design.audit.audit import audit
from experiment.design.lists import build_lists
from experiment.errors import DesignError, UnknownNameError
from experiment.records import Item, Kind
from tests.experiment.design.small_studies import MIXED, MIXED_ITEMS, make_items, make_study


@st.composite
def squares(draw: st.DrawFn) -> tuple[list[dict[str, Any]], int, int, list[Item]]:
    """Draw squares, the number of lists, the trials of a list, and the materials."""
    n_lists = draw(st.integers(2, 6))
    described, n_trials, items = [], 0, []
    for number in range(draw(st.integers(2, 4))):
        n_conditions = draw(st.integers(1, n_lists))
        n_frames = n_lists * draw(st.integers(1, 2))
        n_items = n_frames // n_lists * n_conditions
        described.append(
            {
                "templates": [f"template{number}"],
                "frames": n_frames,
                "catch_trials": draw(st.integers(0, n_items)),
            }
        )
        n_trials += n_items
        conditions = [f"condition{condition}" for condition in range(n_conditions)]
        items += make_items(f"template{number}", {"N": n_frames, "V": 3}, conditions)
    return described, n_lists, n_trials, items


@settings(max_examples=20)
@given(squares(), st.integers(0, 2**63), st.integers(1, 5))
def test_lists_of_every_shape_pass_every_check(
    drawn: tuple[list[dict[str, Any]], int, int, list[Item]], seed: int, places: int
):
    described, n_lists, n_trials, items = drawn
    study = make_study(described, n_lists, n_trials, separate="")
    design = study.design.model_copy(update={"participants_per_list": places})
    study = study.model_copy(update={"design": design})
    built = build_lists(study, iter(items), seed)
    assert [each for each in audit(study, built, items, order_seeds=100) if not each.passed] == []


def test_a_classical_latin_square_is_a_square_like_any_other():
    study = make_study([{"templates": ["simple"]}], lists=3, trials_per_list=3, separate="")
    items = list(make_items("simple", {"N": 5}, ("a", "b", "c")))
    built = build_lists(study, items, 1)
    rows = [{entry.item.frame: entry.item.condition for entry in row} for row in built.lists]
    assert all(sorted(row.values()) == ["a", "b", "c"] for row in rows)
    assert all(sorted(row[frame] for row in rows) == ["a", "b", "c"] for frame in rows[0])


def test_pooled_templates_share_a_square_and_meet_in_every_list():
    built = build_lists(MIXED, MIXED_ITEMS, 1)
    frames = {(e.item.template, e.item.frame) for row in built.lists for e in row}
    shares = Counter(template for template, _ in frames)
    assert shares["living"] == shares["lifeless"] == 2
    for entries in built.lists:
        templates = Counter(entry.item.template for entry in entries)
        assert templates["living"] == templates["lifeless"] == 1


def test_catch_trials_are_labelled_and_the_rest_keep_their_kind():
    for entries in build_lists(MIXED, MIXED_ITEMS, 1).lists:
        kinds = Counter((entry.item.template == "simple", entry.kind) for entry in entries)
        assert kinds == {(True, Kind.CATCH): 3, (True, Kind.TARGET): 1, (False, Kind.TARGET): 6}


def test_the_same_seed_builds_the_same_lists():
    assert build_lists(MIXED, iter(MIXED_ITEMS), 5) == build_lists(MIXED, MIXED_ITEMS, 5)


def test_another_seed_builds_other_lists():
    assert build_lists(MIXED, MIXED_ITEMS, 5).lists != build_lists(MIXED, MIXED_ITEMS, 6).lists


@pytest.mark.parametrize(
    ("squares", "design", "message"),
    [
        ([{"templates": ["simple"], "frames": 6}], {}, "square of simple: 6 frames cannot be"),
        (
            [{"templates": ["simple"]}, {"templates": ["simple"]}],
            {},
            r"template\(s\) simple would occur in a list more than once",
        ),
        (
            [{"templates": ["living", "lifeless", "simple"]}],
            {},
            "4 frames cannot be shared equally by 3 templates",
        ),
        ([{"templates": ["living", "simple"]}], {}, '"simple" has the conditions singular'),
        (
            [{"templates": ["simple"], "catch_trials": 3}],
            {},
            r"square of simple: 3 catch trials .* 2 items",
        ),
        ([{"templates": ["simple"], "frames": 20}], {}, "20 frames are needed, but only 16"),
        (
            [{"templates": ["simple"]}],
            {"disjoint": [{"templates": ["simple", "acros"], "slots": ["N"]}]},
            'design.disjoint: there is no template "acros" in design.squares',
        ),
    ],
)
def test_a_design_that_cannot_be_built_is_refused(
    squares: list[dict[str, Any]], design: dict[str, Any], message: str
):
    study = make_study(squares, lists=4, trials_per_list=1, **design)
    with pytest.raises(DesignError, match=message):
        build_lists(study, MIXED_ITEMS, 1)


def test_more_conditions_than_lists_are_refused():
    study = make_study([{"templates": ["simple"]}], lists=1, trials_per_list=1)
    with pytest.raises(DesignError, match="square of simple: 2 conditions do not fit 1 lists"):
        build_lists(study, MIXED_ITEMS, 1)


def test_a_template_that_the_materials_lack_is_refused():
    study = make_study([{"templates": ["simpel"]}], lists=4, trials_per_list=1)
    with pytest.raises(UnknownNameError, match='no template "simpel"'):
        build_lists(study, MIXED_ITEMS, 1)
