"""SyntaxGym suites evaluated by their own definition, with numbers checked by hand."""

import json
import math

import pytest

from analysis.scores.suites import score_suites
from experiment.errors import MaterialsError
from experiment.materials.render import as_written
from lm.baselines.score_table import FixedScorer

# Surprisals in bits of each word, by condition: region 2 is one word or two.
BITS = {
    "the key is here": (1, 2, 3, 4),
    "the key are here": (1, 2, 6, 4),
    "the keys to it is here": (1, 3, 2, 2, 5, 4),
    "the keys to it are here": (1, 3, 2, 2, 4.5, 1),
}
CONDITIONS = {
    "short_match": ["the key", "", "is", "here"],
    "short_miss": ["the key", "", "are", "here"],
    "long_miss": ["the keys", "to it", "is", "here"],
    "long_match": ["the keys", "to it", "are", "here"],
}
INTERACTION = (
    "((3;%short_miss%) - (3;%short_match%)) > ((3;%long_miss%) - (3;%long_match%))"  # 3 > 0.5
)
WHOLE = "(*;%long_match%) < (*;%short_miss%)"  # 13.5 < 13: no
SECOND = "(2;%long_miss%) = 4"  # 2 + 2, in bits


def suite(folder, *formulas, metric="sum"):
    regions = {
        name: [{"region_number": n, "content": text} for n, text in enumerate(texts, start=1)]
        for name, texts in CONDITIONS.items()
    }
    item = {
        "conditions": [{"condition_name": n, "regions": own} for n, own in regions.items()],
    }
    path = folder / "suite.json"
    path.write_text(
        json.dumps(
            {
                "meta": {"name": "number", "metric": metric},
                "predictions": [{"type": "formula", "formula": one} for one in formulas],
                "items": [{"item_number": 1, **item}],
            }
        )
    )
    return path


@pytest.fixture
def scorer():
    nats = {
        ("", text): tuple(-bits * math.log(2) for bits in values) for text, values in BITS.items()
    }
    return FixedScorer(nats, name="by hand", trained_on="nothing", source="here")


def test_regions_sum_in_bits_and_predictions_over_four_conditions_are_evaluated(scorer, tmp_path):
    found = score_suites(scorer, [suite(tmp_path, INTERACTION, WHOLE, SECOND)], as_written)
    assert found.predictions["holds"].tolist() == [True, False, True]
    assert found.predictions["formula"].tolist() == [INTERACTION, WHOLE, SECOND]
    by_region = found.regions.set_index(["condition", "region"])["surprisal_bits"]
    expected = {"short_match": [3, 0, 3, 4], "short_miss": [3, 0, 6, 4],
                "long_miss": [4, 4, 5, 4], "long_match": [4, 4, 4.5, 1]}  # fmt: skip
    for condition, bits in expected.items():
        assert by_region[condition].tolist() == pytest.approx(bits)
    assert found.regions["n_tokens"].tolist()[8:12] == [2, 2, 1, 1]


@pytest.mark.parametrize(
    ("metric", "region_1"),
    [("mean", 1.5), ("median", 1.5), ("range", 1), ("max", 2), ("min", 1), ("all", 3)],
)
def test_a_suite_says_how_a_regions_surprisals_are_summed_up(scorer, tmp_path, metric, region_1):
    found = score_suites(scorer, [suite(tmp_path, WHOLE, metric=metric)], as_written)
    assert found.regions["surprisal_bits"][0] == pytest.approx(region_1)


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("(9;%short_match%) < 3", 'names the region 9 of the condition "short_match"'),
        ("(1;%other%) < 3", 'condition "other", but the item has no such condition'),
        ("(1;%short_match%)", "prediction 1"),
    ],
)
def test_a_formula_that_an_item_cannot_answer_is_refused(scorer, tmp_path, formula, message):
    with pytest.raises(MaterialsError, match=message):
        score_suites(scorer, [suite(tmp_path, formula)], as_written)
