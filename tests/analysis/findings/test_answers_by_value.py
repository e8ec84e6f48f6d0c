"""Every number about yes and no and about ratings, worked out by hand or by scipy."""

from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, spearmanr
from statsmodels.stats.multitest import multipletests

from analysis.findings import yes_no
from analysis.findings.measures import RATING_EFFECTS, YES_NO_EFFECTS
from analysis.findings.ratings import RATINGS
from analysis.findings.yes_no import YES_NO, YES_NO_MODELS
from tests.analysis.findings.hand_made_runs import frame_of, given_of

PEOPLE, FRAMES = 12, 8


def answered(construction: str, condition: str, n_yes: int, *, expected: str, kind="target"):
    """Answers of everybody to every frame of a condition, of which the first so many are yes."""
    rows = []
    for number, (frame, person) in enumerate(product(range(FRAMES), range(PEOPLE))):
        said = number < n_yes
        rows.append(
            {
                "participant": f"p{person}", "position": len(rows) + 1, "kind": kind,
                "item_id": f"{construction} {condition} {frame}", "construction": construction,
                "condition": condition, "frame": f"f{frame}", "unit": f"{construction} f{frame}",
                "cell": condition, "version": "good", "said_yes": said,
                "chose_good": said == (expected == "yes"),
            }
        )  # fmt: skip
    return rows


def told_apart() -> pd.DataFrame:
    """72 hits and 24 false alarms of 96 each; of catch trials 96 and 0."""
    rows = [
        *answered("extraction", "a", 72, expected="yes"),
        *answered("extraction", "b", 24, expected="no"),
        *answered("filler", "c", 96, expected="yes", kind="catch"),
        *answered("filler", "d", 0, expected="no", kind="catch"),
    ]
    return pd.DataFrame(rows)


def dprime(hits: int, false_alarms: int, n: int) -> float:
    """Hautus' correction: a half more of each, of one more."""
    return float(norm.ppf((hits + 0.5) / (n + 1)) - norm.ppf((false_alarms + 0.5) / (n + 1)))


def test_sensitivity_of_all_constructions_counts_no_catch_trials():
    found = YES_NO.run(given_of(told_apart(), conditions="abcd"))
    rows = found.statistics["detection"].set_index("construction")
    assert rows.loc["", "dprime"] == pytest.approx(dprime(72, 24, 96))
    assert rows.loc["extraction", "dprime"] == pytest.approx(dprime(72, 24, 96))
    assert rows.loc["filler", "dprime"] == pytest.approx(dprime(96, 0, 96))
    assert rows.loc["", "hits"] == 0.75 and rows.loc["", "false_alarms"] == 0.25
    assert rows.loc["", "accuracy"] == 0.75 and rows.loc["", "n_answers"] == 192
    assert rows.loc["", "criterion"] == pytest.approx(0, abs=1e-9)


def test_shares_of_yes_stand_under_the_answer_that_was_expected():
    found = YES_NO.run(given_of(told_apart(), conditions="abcd"))
    rows = frame_of(found, "yes_rates")
    told = dict(
        zip(rows["condition"], zip(rows["expected"], rows["yes"], strict=True), strict=True)
    )
    assert told == {"a": ("yes", 0.75), "b": ("no", 0.25), "c": ("yes", 1), "d": ("no", 0)}


def test_models_are_compared_with_the_answers_to_targets_alone(monkeypatch):
    answers = told_apart().assign(list=0)
    items = answers["item_id"].drop_duplicates().tolist()
    # Of a's eight frames half have the best score and half the worst; b's and catch trials' are 1.
    values = [2.0 * (number < 4) if number < FRAMES else 1.0 for number in range(len(items))]
    monkeypatch.setattr(yes_no, "compute_sentence_metric", lambda *_: np.array(values))
    scores = SimpleNamespace(
        frame=pd.DataFrame({"item_id": items, "variant": "good"}), facts=SimpleNamespace(model="m")
    )
    given = replace(given_of(answers, conditions="abcd"), as_read=[scores])
    rows = YES_NO_MODELS.run(given).statistics["yes_no_models"].set_index(["judge", "measure"])
    assert (rows["construction"] == "").all() and (rows["n_sentences"] == 2 * FRAMES).all()
    # Everybody says yes to six of a's sentences and to two of b's: of 64 pairs a's sentence has
    # the higher share in 36, and the same in 24.
    assert rows.loc[("people", ""), "area"] == (36 + 24 / 2) / 64
    model = rows.loc[("m", "sum")]
    assert model["area"] == 0.5
    yes = [1] * 6 + [0] * 2 + [1] * 2 + [0] * 6
    assert model["spearman"] == pytest.approx(spearmanr(yes, values[: 2 * FRAMES]).statistic)


def test_a_difference_of_the_shares_of_yes_is_that_of_the_conditions():
    rows = told_apart()
    found = YES_NO_EFFECTS.run(given_of(rows[rows["kind"] == "target"]))
    [row] = found.statistics["yes_no_effects"].to_dict("records")
    assert (row["construction"], row["contrast"]) == ("extraction", "a - b")
    assert row["estimate"] == pytest.approx(0.5)
    assert row["p_holm"] == row["p"]


def rated() -> pd.DataFrame:
    """Ratings from 1 to 7: b is lower than a by a point on average, c by half a point."""
    rng, n = np.random.default_rng(2), FRAMES * PEOPLE
    lower = {name: rng.permutation(np.arange(n) % most) for name, most in (("b", 3), ("c", 2))}
    rows = []
    for number, (frame, person) in enumerate(product(range(FRAMES), range(PEOPLE))):
        high = int(rng.integers(3, 8))
        for condition in "abc":
            less = lower[condition][number] if condition in lower else 0
            rows.append(
                {
                    "participant": f"p{person}", "position": len(rows) + 1, "kind": "target",
                    "item_id": f"{frame}{condition}", "construction": "extraction",
                    "condition": condition, "frame": f"f{frame}", "unit": f"f{frame}",
                    "cell": condition, "version": "good", "rating": high - less, "z": 0.0,
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def test_the_shares_of_a_scales_points_add_up_to_one_in_each_row():
    rows = rated().assign(
        version=lambda own: np.where(own["condition"] == "a", "good", "bad"),
    )
    found = RATINGS.run(given_of(rows, conditions="abc"))
    points = frame_of(found, "rating_points").set_index("version")
    for version, own in (("expected", rows[rows["condition"] == "a"]),
                         ("other", rows[rows["condition"] != "a"])):  # fmt: skip
        shares = own["rating"].value_counts(normalize=True).reindex(range(1, 8), fill_value=0)
        shown = points.loc[version, [f"point_{n}" for n in range(1, 8)]]
        assert shown.to_numpy(float) == pytest.approx(shares.to_numpy())


def test_means_and_deviations_of_ratings_are_those_of_the_answers():
    rows = rated()
    shown = frame_of(RATINGS.run(given_of(rows, conditions="abc")), "ratings")
    assert shown["condition"].tolist() == ["a", "b", "c"]
    values = rows.groupby("condition")["rating"]
    assert shown["rating"].to_numpy() == pytest.approx(values.mean().to_numpy())
    assert shown["sd"].to_numpy() == pytest.approx(values.std(ddof=1).to_numpy())
    assert (shown["n_ratings"] == 96).all() and (shown["n_items"] == FRAMES).all()


def test_differences_of_ratings_are_in_points_and_corrected_among_themselves():
    given = given_of(rated(), conditions="abc")
    rows = RATING_EFFECTS.run(given).statistics["rating_effects"].set_index("contrast")
    assert rows["estimate"].to_dict() == pytest.approx({"a - b": 1, "a - c": 0.5, "b - c": -0.5})
    holm = multipletests(rows["p"], method="holm")[1]
    assert rows["p_holm"].to_numpy() == pytest.approx(holm)
    assert (rows["p_holm"] > rows["p"]).any()
