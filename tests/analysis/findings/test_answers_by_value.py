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
from analysis.findings.comparison_words import comparison_sentences
from analysis.findings.comparisons import COMPARISONS
from analysis.findings.finding import Findings
from analysis.findings.measures import RATING_EFFECTS, YES_NO_EFFECTS
from analysis.findings.ratings import RATINGS
from analysis.findings.yes_no import YES_NO, YES_NO_MODELS
from analysis.responses.yes_no import _people_sentences
from experiment.studies.analysis_plan import Comparison
from experiment.studies.study import Trials
from tests.analysis.designed_studies import designed
from tests.analysis.findings.hand_made_runs import frame_of, given_of, with_others

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


def test_the_criterion_of_each_condition_pools_over_what_decides_the_expected_answer():
    """Hits and false alarms of 96: near 72 and 24, far 48 and 12."""
    counts = {"near good": 72, "near bad": 24, "far good": 48, "far bad": 12}
    rows = [
        row | {"own_distance": name.split()[0], "own_grammaticality": name.split()[1]}
        for name, n_yes in counts.items()
        for row in answered("extraction", name, n_yes, expected="yes" if "good" in name else "no")
    ]
    found = YES_NO.run(given_of(pd.DataFrame(rows), conditions=list(counts)))
    shown = found.statistics["detection_by_cell"].set_index("cell")
    assert list(shown.index) == ["near", "far"]
    assert list(frame_of(found, "detection_by_cell")["label"]) == ["near", "far"]
    assert shown.loc["near", "dprime"] == pytest.approx(dprime(72, 24, 96))
    assert shown.loc["near", "criterion"] == pytest.approx(0, abs=1e-9)
    # z(48.5 / 97) = 0, so the criterion is half of -z(12.5 / 97), which is 1.1316 by a table.
    assert shown.loc["far", "criterion"] == pytest.approx(1.1316 / 2, abs=1e-3)
    assert shown.loc["far", "n_answers"] == 192


def test_without_unacceptable_sentences_in_each_condition_there_is_no_criterion_by_condition():
    found = YES_NO.run(given_of(told_apart(), conditions="abcd"))
    assert "detection_by_cell" not in found.statistics


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
    assert shown["condition"].tolist() == shown["label"].tolist() == ["a", "b", "c"]
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


def test_sensitivity_of_fillers_with_known_answers_is_told_where_targets_have_none():
    targets = pd.DataFrame(answered("extraction", "a", 72, expected="yes"))
    fillers = told_apart().assign(construction="filler", kind="filler")
    found = YES_NO.run(with_others(given_of(targets.assign(chose_good=None)), fillers))
    [row] = found.statistics["filler_detection"].to_dict("records")
    assert row["dprime"] == pytest.approx(dprime(72 + 96, 24, 192))
    assert list(frame_of(found, "detection")["label"]) == ["Fillers with a known answer"]
    sentences = list(_people_sentences(found.statistics))
    assert "no answer was expected" in sentences[0]
    assert sentences[1].startswith(
        "Of the fillers, people said yes to 88% of the acceptable sentences and to 12% of the "
        "unacceptable ones: d' is"
    )


def _answers_to(
    rows: pd.DataFrame,
    response: str = "yes_no",
    trials: pd.DataFrame | None = None,
    **declared: object,
) -> Findings:
    given = given_of(rows, conditions=list(dict.fromkeys(rows["condition"])))
    asked = Comparison.model_validate({"name": "asked", **declared})
    items = given.run.items.assign(
        template="", context="", good="x", bad="y", distractor="z", contrast="bad"
    )
    run = replace(given.run, items=items, trials=given.run.trials if trials is None else trials)
    run = designed(run, response=response, trial=Trials(), comparisons=[asked])
    return COMPARISONS.run(replace(given, run=run))


def test_a_comparison_of_sensitivity_is_a_difference_of_z():
    """Near: 75% and 25% with Hautus' correction; far: 60% and 40%; z by a printed table."""
    kinds = {"near good": 75, "near bad": 25, "far good": 60, "far bad": 40}
    rows = []
    for condition, percent in kinds.items():
        distance, kind = condition.split()
        answers = answered("extraction", condition, round(0.97 * percent - 0.5),
                           expected="yes" if kind == "good" else "no")  # fmt: skip
        rows += [one | {"own_distance": distance, "own_grammar": kind} for one in answers]
    found = _answers_to(pd.DataFrame(rows), compare="distance: near - far", of="d_prime")
    [row] = found.statistics["comparisons"].to_dict("records")
    # 72, 24, 58 and 38 of 96: z = +-0.670, +-0.257 (shares .747, .253, .603 and .397).
    assert row["estimate"] == pytest.approx(2 * 0.6666 - 2 * 0.2614, abs=0.002)
    assert row["low"] < row["estimate"] < row["high"]
    unknown = _answers_to(pd.DataFrame(rows), compare="grammar: good - bad", of="d_prime")
    assert unknown.statistics == {} or unknown.statistics["comparisons"]["estimate"].isna().all()


def test_a_share_of_an_option_counts_the_answers_to_items_that_offer_it():
    """The first 6 frames offer "distractor", chosen in 18 of 72 near and 54 of 72 far answers."""
    rows = []
    for condition, n_chosen in (("near", 18), ("far", 54)):
        for number, answer in enumerate(answered("extraction", condition, 0, expected="no")):
            version = "distractor" if number < n_chosen else "good"
            rows.append(answer | {"version": version})
    offered = ["good bad" if int(one["frame"][1:]) > 5 else "good bad distractor" for one in rows]
    trials = pd.DataFrame({"item_id": [one["item_id"] for one in rows], "options": offered})
    found = _answers_to(
        pd.DataFrame(rows).drop(columns="cell"), response="option_list", trials=trials,
        compare="condition: far - near", of="share of distractor",
    )  # fmt: skip
    [row] = found.statistics["comparisons"].to_dict("records")
    assert (row["estimate"], row["n_observations"]) == (0.5, 144)
    [sentence, *_] = comparison_sentences(found.statistics)
    assert "the share of the option distractor is higher for far than for near" in sentence
